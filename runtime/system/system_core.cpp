#include "runtime/system/system_core.hpp"

#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>

#include "runtime/base/log.hpp"
#include "runtime/cluster/cluster_slot_provider.hpp"
#include "runtime/cluster/simulated_nodes.hpp"
#include "runtime/process/process_slot_provider.hpp"
#include "runtime/remote/simulated_slot_provider.hpp"

namespace troupe::detail {

namespace {

struct all_systems {
  std::mutex mutex;
  std::set<system_core*> known;
};

/// It is never destroyed, because a system may live as long as the process.
all_systems& systems() {
  static auto& all = *new all_systems;
  return all;
}

std::string list_of(const std::set<std::string>& names) {
  std::string list;
  for (const auto& name : names) list += (list.empty() ? "" : ", ") + name;
  return list.empty() ? "none" : list;
}

[[noreturn]] void leave_at_once() {
  std::fflush(nullptr);
  std::_Exit(70);  // EX_SOFTWARE: a thread is stuck in user code, so no orderly end is possible.
}

const system_options& checked(const system_options& options) {
  if (options.faults.any() && !options.deterministic) {
    throw std::invalid_argument("system: faults: expected a deterministic system, got \"" +
                                options.faults.text() + "\" in one that is not");
  }
  if (options.deterministic && !options.listen.empty()) {
    throw std::invalid_argument(
        "system: listen: expected no address in a deterministic system, "
        "whose nodes are simulated, got \"" +
        options.listen + '"');
  }
  if (options.peer_bytes_max == 0) {
    throw std::invalid_argument("system: peer_bytes_max: expected a number > 0, got 0");
  }
  if (options.cycle_check < duration(0)) {
    throw std::invalid_argument("system: cycle_check: expected a time >= 0, got " +
                                to_text(options.cycle_check));
  }
  if (options.long_turn <= duration(0)) {
    throw std::invalid_argument("system: long_turn: expected a time > 0, got " +
                                to_text(options.long_turn));
  }
  if (options.stop_limit < duration(0)) {
    throw std::invalid_argument("system: stop_limit: expected a time >= 0, got " +
                                to_text(options.stop_limit));
  }
  return options;
}

actor_options actor_options_of(const system_options& options) {
  return {.threads = options.threads,
          .deterministic = options.deterministic,
          .seed = options.seed,
          .long_turn = options.long_turn,
          .trace = options.trace};
}

}  // namespace

system_core::listed::listed(system_core& self) : self_(self) {
  std::lock_guard lock(systems().mutex);
  systems().known.insert(&self_);
}

system_core::listed::~listed() {
  std::lock_guard lock(systems().mutex);
  systems().known.erase(&self_);
}

std::string hung_services(duration seen_for) {
  std::set<std::string> names;
  std::lock_guard lock(systems().mutex);
  for (auto* system : systems().known) names.merge(system->hung(seen_for));
  return list_of(names);
}

system_core::system_core(system_options options)
    : remote_context(actor_options_of(checked(options)), options.faults, options.cycle_check,
                     options.metrics, options.isolate, options.peer_bytes_max),
      options_(std::move(options)) {
  if (deterministic()) {
    processes_ = std::make_unique<simulated_slot_provider>(*this);
    if (faults() && faults()->plan().slow > 0) simulate_threads();
    return;
  }
  processes_ = make_process_slot_provider(*this);
  if (options_.listen.empty()) return;
  cluster_ = std::make_unique<cluster_slot_provider>(
      *this, link_server_options{.address = options_.listen,
                                 .certs = options_.certs,
                                 .join_secret = options_.join_secret});
  log::info("nodes may join", {{"port", cluster_->port()}});
}

system_core::~system_core() {
  const auto limit = later(std::chrono::steady_clock::now(), options_.stop_limit);
  stop_all(limit);
  if (!stop_clock(limit)) {
    log::error("threads of actors did not end in time; leaving without them",
               {{"threads", own_threads()->count()}});
    leave_at_once();
  }
  nodes_.reset();
  end_threads();
  forget_remote_metrics();
}

replica_provider& system_core::slot_provider_of(const placement& where) {
  if (where.on_node() && nodes_) return *nodes_;
  return where.on_node() && cluster_ ? static_cast<slot_provider&>(*cluster_) : *processes_;
}

simulated_nodes& system_core::simulate_nodes() {
  simulate_threads();
  if (!nodes_) nodes_ = std::make_unique<simulated_nodes>(*this);
  return *nodes_;
}

void system_core::limit_threads(std::size_t threads) {
  simulate_threads();
  threads_in_virtual_time()->limit(threads);
}

void system_core::stop_all(std::chrono::steady_clock::time_point limit) {
  end_request().request_stop();
  stop_looking_for_cycles();
  {
    std::lock_guard lock(main_mutex);
    if (main) main->kill("the system stops");
    main = nullptr;
  }
  refuse_services();
  for (const auto& service : last_first()) stop_service(*service);
  if (cluster_) cluster_->close();
  if (nodes_) nodes_->close();
  kept_for_successors()->close();
  processes_->close();
  if (deterministic()) {
    while (hosts() > 0 && step_deterministic()) {
    }
  } else {
    all_ended_by(limit);
  }
  if (hosts() == 0) return;
  log::error("actors did not end in time; leaving without them",
             {{"actors", hosts()}, {"services_with_hung_replicas", list_of(hung(duration(0)))}});
  leave_at_once();
}

void system_core::run_until(const std::function<bool()>& finished) {
  if (deterministic()) {
    while (!finished()) {
      if (step_deterministic()) continue;
      throw std::logic_error("deadlock: every actor waits, and no deadline or timer is pending" +
                             unanswered());
    }
    return;
  }
  std::unique_lock lock(main_mutex);
  main_changed_.wait(lock, finished);
}

}  // namespace troupe::detail
