#include "runtime/system/system.hpp"

#include "runtime/cluster/cluster_slot_provider.hpp"
#include "runtime/service/call/host.hpp"
#include "runtime/service/call/signal.hpp"
#include "runtime/service/supervision/option_checks.hpp"
#include "runtime/service/supervision/supervisor.hpp"
#include "runtime/system/child_process.hpp"
#include "runtime/system/driver.hpp"
#include "runtime/system/system_core.hpp"

namespace troupe {

namespace detail {

namespace {

/// Ends a service whose start failed or was cancelled, so that its name is free again.
class closer {
 public:
  closer(system_core& system, service_state& service) : system_(&system), service_(service) {}
  closer(const closer&) = delete;
  ~closer() {
    if (system_) system_->stop_service(service_);
  }
  void dismiss() noexcept { system_ = nullptr; }

 private:
  system_core* system_;
  service_state& service_;
};

}  // namespace

system_core& core_of(system& sys) { return *sys.core_; }

}  // namespace detail

system::system(system_options options) : core_(std::make_unique<detail::system_core>(options)) {}
system::~system() = default;

task<> system::wait_for_nodes(std::size_t count) {
  auto* cluster = core_->cluster();
  if (!cluster) throw std::logic_error("wait_for_nodes: expected a system that listens for nodes");
  const auto here = std::make_shared<detail::signal>();
  cluster->when_there_are(count, [here] { detail::signal::set(here); });
  co_await detail::signal::awaiter(here);
}

std::vector<node_info> system::nodes() const {
  return core_->cluster() ? core_->cluster()->nodes() : std::vector<node_info>();
}
std::uint16_t system::port() const { return core_->cluster() ? core_->cluster()->port() : 0; }

metrics_registry& system::metrics() { return core_->metrics(); }
const system_options& system::options() const { return core_->options(); }
std::size_t system::actors() const { return core_->hosts(); }

task<std::shared_ptr<detail::service_state>> system::open(
    serve_options options, std::shared_ptr<const detail::role_factory> factory) {
  if (options.placement.elsewhere()) {
    detail::require_it_can_leave(*factory, options,
                                 {.simulated = core_->deterministic(),
                                  .listens = core_->cluster() != nullptr,
                                  .may_have_children = detail::can_have_children()});
  }
  const auto state = core_->add_service(std::move(options));
  state->role = factory->role;
  const auto started = std::make_shared<detail::signal>();
  const auto tell = [started](std::exception_ptr error) {
    detail::signal::set(started, std::move(error));
  };
  const auto actor =
      core_->actors().spawn<detail::supervisor>(std::ref(*core_), state, std::move(factory), tell);
  core_->set_supervisor(*state,
                        detail::make_local_inbox(caf::actor_cast<caf::strong_actor_ptr>(actor)));
  detail::closer unless_started(*core_, *state);
  co_await detail::signal::awaiter(started);
  unless_started.dismiss();
  co_return state;
}

void system::close(detail::service_state& service) { core_->stop_service(service); }

task<> system::stop_all() {
  const auto ended = std::make_shared<detail::signal>();
  core_->stop_services(core_->options().stop_limit, [ended] { detail::signal::set(ended); });
  co_await detail::signal::awaiter(ended);
}

task<> system::change_replicas(std::shared_ptr<detail::service_state> service,
                               std::size_t replicas) {
  if (replicas == 0) {
    throw std::invalid_argument("service \"" + service->options.name +
                                "\": scale: replicas: expected a number > 0, got 0; `stop` ends a "
                                "service");
  }
  const auto finished = std::make_shared<detail::signal>();
  core_->scale(service, replicas, [finished](std::exception_ptr error) {
    detail::signal::set(finished, std::move(error));
  });
  co_await detail::signal::awaiter(finished);
}

void system::drive(detail::child_task main) {
  const auto result = std::make_shared<detail::driver::outcome>();
  const auto finished = [&] { return result->finished; };
  {
    std::lock_guard lock(core_->main_mutex);
    if (core_->main) throw std::logic_error("system::run: it runs already");
    if (std::exchange(core_->main_cancelled, false)) throw detail::cancelled();
    const auto actor =
        core_->actors().spawn<detail::driver>(std::ref(*core_), std::move(main), result);
    core_->main = detail::make_local_inbox(caf::actor_cast<caf::strong_actor_ptr>(actor));
  }
  std::exception_ptr deadlock;
  try {
    core_->run_until(finished);
  } catch (const std::logic_error&) {
    deadlock = std::current_exception();
    cancel();
    core_->run_until(finished);
  }
  std::lock_guard lock(core_->main_mutex);
  core_->main = nullptr;
  if (deadlock) std::rethrow_exception(deadlock);
  if (result->error) std::rethrow_exception(result->error);
}

void system::cancel() {
  std::lock_guard lock(core_->main_mutex);
  if (core_->main) {
    core_->main->kill("cancelled");
  } else {
    core_->main_cancelled = true;
  }
}

}  // namespace troupe
