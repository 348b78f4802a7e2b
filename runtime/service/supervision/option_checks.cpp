#include "runtime/service/supervision/option_checks.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "runtime/service/role/role_constructor.hpp"

namespace troupe::detail {

void check_options(const serve_options& options) {
  const auto require = [&](bool holds, const char* name, const char* expected) {
    if (holds) return;
    throw std::invalid_argument("service \"" + options.name + "\": " + name + ": expected " +
                                expected);
  };
  require(!options.name.empty(), "name", "a name, got none");
  require(options.replicas > 0, "replicas", "a number > 0, got 0");
  require(options.min_ready <= options.replicas, "min_ready",
          ("at most replicas, " + std::to_string(options.replicas) + ", got " +
           std::to_string(options.min_ready))
              .c_str());
  const auto& autoscale = options.autoscale;
  if (autoscale.max > 0) {
    require(autoscale.min > 0, "autoscale.min", "a number > 0, got 0");
    require(autoscale.min <= autoscale.max, "autoscale.max",
            ("at least min, " + std::to_string(autoscale.min) + ", got " +
             std::to_string(autoscale.max))
                .c_str());
    require(options.replicas >= autoscale.min && options.replicas <= autoscale.max, "replicas",
            ("a number from autoscale.min, " + std::to_string(autoscale.min) + ", to max, " +
             std::to_string(autoscale.max) + ", got " + std::to_string(options.replicas))
                .c_str());
  }
  require(options.max_queued > 0, "max_queued", "a number > 0, got 0");
  require(options.max_ongoing > 0, "max_ongoing", "a number > 0, got 0");
  require(options.max_batch > 0, "max_batch", "a number > 0, got 0");
  require(options.poison_limit > 0, "poison_limit", "a number > 0, got 0");
  const auto require_time = [&](duration value, bool zero, const char* name) {
    require(value > duration(0) || (zero && value == duration(0)), name,
            ((zero ? "a time >= 0, got " : "a time > 0, got ") + to_text(value)).c_str());
  };
  require_time(autoscale.target_queue_wait, false, "autoscale.target_queue_wait");
  require_time(autoscale.metrics_interval, false, "autoscale.metrics_interval");
  require_time(autoscale.upscale_delay, true, "autoscale.upscale_delay");
  require_time(autoscale.downscale_delay, true, "autoscale.downscale_delay");
  require_time(options.deadline, false, "deadline");
  require_time(options.max_delay, true, "max_delay");
  require_time(options.restart_window, false, "restart_window");
  require_time(options.backoff, true, "backoff");
  require_time(options.backoff_limit, true, "backoff_limit");
  require_time(options.start_timeout, false, "start_timeout");
  require_time(options.max_call_time, false, "max_call_time");
  require_time(options.drain_timeout, true, "drain_timeout");
  require_time(options.outlive_controller, true, "outlive_controller");
  require_time(options.hedge_after, !options.hedged.empty() ? false : true, "hedge_after");
  for (const auto* e : options.idempotent)
    require(e != nullptr, "idempotent", "endpoints, got null");
  for (const auto* e : options.run_to_end)
    require(e != nullptr, "run_to_end", "endpoints, got null");
  for (const auto* e : options.hedged) {
    require(e != nullptr, "hedged", "endpoints, got null");
    const bool idempotent = std::find(options.idempotent.begin(), options.idempotent.end(), e) !=
                            options.idempotent.end();
    require(idempotent, "hedged",
            ("only idempotent endpoints, got " + std::string(e->name)).c_str());
  }
}

namespace {

/// Throws std::invalid_argument if the program can't be executed or can't have the role.
void require_program(const serve_options& options, const role_factory& factory) {
  const auto& name = factory.constructor->signature;
  const auto refuse = [&](const std::string& why) {
    throw std::invalid_argument("service \"" + options.name + "\": program: " + why);
  };
  if (access(options.program.c_str(), X_OK) != 0) {
    const int error = errno;
    refuse("expected the path of a program, got \"" + options.program +
           "\": " + std::strerror(error));
  }
  for (const auto* anonymous : {"(anonymous namespace)", "{anonymous}", "<unnamed>"}) {
    if (name.find(anonymous) == name.npos) continue;
    refuse("expected a role whose types have names in \"" + options.program +
           "\", too, got types in an anonymous namespace: " + name);
  }
}

}  // namespace

void require_it_can_leave(const role_factory& factory, const serve_options& options,
                          const system_capabilities& around) {
  const auto refuse = [&](const std::string& what, const std::string& type) {
    throw std::invalid_argument("service \"" + options.name + "\": placement " +
                                options.placement.text() + ": " + what + ": " + type +
                                " can't be encoded");
  };
  const auto require = [&](bool holds, const char* expected) {
    if (holds) return;
    throw std::invalid_argument("service \"" + options.name + "\": placement " +
                                options.placement.text() + ": expected " + expected);
  };
  if (!around.simulated && options.placement.on_node()) {
    require(around.listens, "a system that listens for nodes (system_options::listen, --listen)");
  } else if (!around.simulated && options.program.empty()) {
    require(around.may_have_children,
            "a program whose main calls troupe::run, or troupe::serve_parent_if_child first");
  } else if (!around.simulated) {
    require_program(options, factory);
  }
  if (!factory.constructor->not_encodable.empty()) {
    refuse("the constructor of " + factory.constructor->name, factory.constructor->not_encodable);
  }
  for (const auto* kind : calls_on(*factory.role)) {
    if (!kind->not_encodable.empty()) refuse("endpoint " + kind->name, kind->not_encodable);
  }
}

}  // namespace troupe::detail
