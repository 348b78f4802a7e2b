#include "runtime/system_core.hpp"

#include <algorithm>
#include <caf/scheduler/test_coordinator.hpp>

#include "runtime/actor/host.hpp"
#include "runtime/actor/thread_pool.hpp"
#include "runtime/cluster/cluster_site.hpp"
#include "runtime/cluster/simulated_nodes.hpp"
#include "runtime/log.hpp"
#include "runtime/process/process_site.hpp"
#include "runtime/remote/hosted_replicas.hpp"
#include "runtime/remote/remote_metrics.hpp"
#include "runtime/remote/simulated_site.hpp"
#include "runtime/service/collector.hpp"
#include "runtime/service/cycle_watch.hpp"
#include "runtime/service/option_checks.hpp"
#include "runtime/service/supervisor.hpp"
#include "runtime/trace/trace.hpp"

namespace troupe::detail {

namespace {

caf::scheduler::test_coordinator& deterministic_scheduler(caf::actor_system& of) {
  return dynamic_cast<caf::scheduler::test_coordinator&>(of.scheduler());
}

[[noreturn]] void leave_at_once() {
  std::fflush(nullptr);
  std::_Exit(70);  // EX_SOFTWARE. A thread is stuck in user code, so an orderly end is impossible.
}

}  // namespace

system_core::system_core(system_options options)
    : options_(std::move(options)), order_(options_.seed) {
  if (options_.faults.any()) {
    if (!options_.deterministic) {
      throw std::invalid_argument("system: faults: expected a deterministic system, got \"" +
                                  options_.faults.text() + "\" in one that is not");
    }
    faults_.emplace(options_.faults, options_.seed);
  }
  if (options_.deterministic && !options_.listen.empty()) {
    throw std::invalid_argument(
        "system: listen: expected no address in a deterministic system, "
        "whose nodes are simulated, got \"" +
        options_.listen + '"');
  }
  if (options_.cycle_check < duration(0)) {
    throw std::invalid_argument("system: cycle_check: expected a time >= 0, got " +
                                to_text(options_.cycle_check));
  }
  if (options_.trace) options_.trace->begin_system(options_.deterministic);
  if (!options_.metrics) options_.metrics = std::make_shared<metrics_registry>();
  if (options_.deterministic) {
    clock_ = std::make_unique<virtual_clock>();
    config_.set("scheduler.policy", caf::atom("testing"));
  } else {
    clock_ = std::make_unique<real_clock>();
    const auto cores = std::max<std::size_t>(1, std::thread::hardware_concurrency());
    config_.load<thread_pool>();
    config_.set("scheduler.max-threads", options_.threads ? options_.threads : cores);
    config_.set("scheduler.max-throughput", std::size_t{100});
  }
  cycles_ = std::make_shared<cycle_watch>(*clock_, options_.cycle_check,
                                          [this] { return all_services(); });
  remote_metrics_ = std::make_shared<class remote_metrics>(metrics());
  hosted_replicas_ = std::make_shared<class hosted_replicas>();
  metrics().watch(remote_metrics_);
  metrics().add(hosted_replicas_);
  actors_ = std::make_unique<caf::actor_system>(config_);
  if (options_.deterministic) {
    processes_ = std::make_unique<simulated_site>(*this);
    if (faults_ && faults_->plan().slow > 0) simulate_threads();
  } else {
    processes_ = make_process_site(*this);
    if (!options_.listen.empty()) {
      cluster_ = std::make_unique<cluster_site>(
          *this, link_server_options{.address = options_.listen,
                                     .certs = options_.certs,
                                     .join_secret = options_.join_secret});
      log::info("the system listens for nodes", {{"port", cluster_->port()}});
    }
  }
  if (!options_.deterministic) spares_ = std::make_unique<spare_threads>(*actors_);
}

system_core::~system_core() {
  const auto limit = std::chrono::steady_clock::now() + options_.stop_limit;
  stop_all(limit);
  clock_->stop();
  if (!own_threads_->none_by(limit)) {
    log::error("threads of actors did not end in time; the process exits without them",
               {{"threads", own_threads_->count()}});
    leave_at_once();
  }
  spares_.reset();
  nodes_.reset();
  virtual_threads_.reset();
  if (deterministic()) order_.remove_all(deterministic_scheduler(*actors_).jobs);
  actors_.reset();
  remote_metrics_->remove_all();
  metrics().retire(hosted_replicas_);
}

site& system_core::site_of(const placement& where) {
  if (where.on_node() && nodes_) return *nodes_;
  return where.on_node() && cluster_ ? static_cast<site&>(*cluster_) : *processes_;
}

simulated_nodes& system_core::simulate_nodes() {
  simulate_threads();
  if (!nodes_) nodes_ = std::make_unique<simulated_nodes>(*this);
  return *nodes_;
}

void system_core::simulate_threads() {
  if (virtual_threads_) return;
  virtual_threads_ =
      std::make_unique<simulated_threads>(*actors_, dynamic_cast<virtual_clock&>(*clock_));
}

void system_core::spend(duration time) {
  if (virtual_threads_ && virtual_threads_->hold(time)) return;
  static_cast<virtual_clock&>(*clock_).spend(time);
}

std::uint64_t system_core::key_of(std::string_view name) {
  auto key = key_below(options_.seed, name);
  if (!deterministic()) return key;
  std::lock_guard lock(mutex_);
  key += named_[key]++;
  return next_of(key);
}

void system_core::thread_hangs(simulated_pool* in) {
  if (spares_) spares_->add();
  if (in) ++in->spare;
}
void system_core::reserve_thread() {
  if (spares_) spares_->reserve();
}
void system_core::thread_came_back(simulated_pool* in) {
  if (spares_) spares_->remove();
  if (in) --in->spare;
}

void system_core::host_started() {
  std::lock_guard lock(mutex_);
  ++hosts_;
}

void system_core::host_ended() {
  std::lock_guard lock(mutex_);
  if (--hosts_ == 0) hosts_changed_.notify_all();
}

std::size_t system_core::hosts() const {
  std::lock_guard lock(mutex_);
  return hosts_;
}

std::shared_ptr<service_state> system_core::add_service(serve_options options) {
  check_options(options);
  std::lock_guard lock(mutex_);
  if (stopping_) {
    throw call_error(error_kind::cancelled, options.name + ": the system is stopping");
  }
  for (const auto& [number, known] : services_) {
    if (known.collector && known.state->options.name == options.name && !known.state->closed()) {
      throw std::invalid_argument("service \"" + options.name + "\": the name is in use");
    }
  }
  auto collector = std::make_shared<service_collector>();
  // A program that has the service's handle may be the last holder, after this system's end.
  const auto end = [collector, metrics = options_.metrics](service_state* service) {
    collector->end(*service);
    metrics->retire(collector, "service");
    delete service;
  };
  const std::shared_ptr<service_state> state(make_service(std::move(options)).release(), end);
  collector->begin(state);
  metrics().add(collector);
  services_[state->number] = {state, nullptr, std::move(collector), true};
  return state;
}

std::shared_ptr<service_state> system_core::add_unnamed(serve_options options) {
  std::lock_guard lock(mutex_);
  const std::shared_ptr<service_state> state = make_service(std::move(options));
  services_[state->number] = {state, nullptr, nullptr, false};
  return state;
}

/// Requires mutex_.
std::unique_ptr<service_state> system_core::make_service(serve_options options) {
  auto state = std::make_unique<service_state>(next_service_++, std::move(options), places_);
  state->cycles = cycles_;
  return state;
}

void system_core::make_findable(const service_state& service) {
  std::lock_guard lock(mutex_);
  services_.at(service.number).findable = true;
}

void system_core::remove_unnamed(const service_state& service) {
  std::lock_guard lock(mutex_);
  services_.erase(service.number);
}

std::size_t system_core::services() const {
  std::lock_guard lock(mutex_);
  return services_.size();
}

std::shared_ptr<service_state> system_core::find_service(const std::string& name) const {
  std::lock_guard lock(mutex_);
  for (const auto& [number, known] : services_) {
    if (known.findable && known.state->options.name == name && !known.state->closed()) {
      return known.state;
    }
  }
  return nullptr;
}

void system_core::set_supervisor(const service_state& service, ref<inbox> supervisor) {
  {
    std::lock_guard lock(mutex_);
    const auto known = services_.find(service.number);
    if (known != services_.end()) known->second.supervisor = supervisor;
  }
  // The service was stopped before its supervisor was known.
  if (service.closed()) supervisor->kill("its service is stopped");
}

void system_core::scale(const std::shared_ptr<service_state>& service, std::size_t replicas,
                        std::function<void(std::exception_ptr)> tell) {
  auto wish = std::make_shared<scaling>(service, replicas, std::move(tell));
  ref<inbox> supervisor;
  {
    std::lock_guard lock(mutex_);
    const auto known = services_.find(service->number);
    if (known != services_.end()) supervisor = known->second.supervisor;
  }
  if (!supervisor || service->closed()) return;  // Dropping the wish answers it.
  supervisor->post([wish = std::move(wish)] {
    static_cast<class supervisor&>(static_cast<host&>(strand::current())).scale(wish);
  });
}

void system_core::stop_service(service_state& service) {
  constexpr std::size_t hung_max = 100;
  service.close("it was stopped");
  entry gone;
  {
    std::lock_guard lock(mutex_);
    const auto known = services_.find(service.number);
    if (known == services_.end()) return;
    gone = std::move(known->second);
    services_.erase(known);
    if (service.abandoned.load() > 0 && hung_.size() < hung_max) hung_.insert(service.options.name);
  }
  if (gone.supervisor) gone.supervisor->kill("its service is stopped");
  if (gone.collector) gone.collector->stop();
  if (!stopping_) service.give_up_callers();
}

std::vector<std::shared_ptr<service_state>> system_core::all_services() const {
  std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<service_state>> all;
  for (const auto& [number, known] : services_) all.push_back(known.state);
  return all;
}

std::vector<std::shared_ptr<service_state>> system_core::last_first() const {
  auto all = all_services();
  std::reverse(all.begin(), all.end());
  return all;
}

void system_core::stop_all(std::chrono::steady_clock::time_point limit) {
  cycles_->close();
  {
    std::lock_guard lock(main_mutex);
    if (main) main->kill("the system stops");
    main = nullptr;
  }
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;  // Only services that other processes bring are added from here on.
  }
  const auto all = last_first();
  for (const auto& service : all) stop_service(*service);
  if (cluster_) cluster_->close();
  if (nodes_) nodes_->close();
  processes_->close();
  const auto none_left = [this] {
    std::lock_guard lock(mutex_);
    return hosts_ == 0;
  };
  if (deterministic()) {
    while (!none_left() && step_deterministic()) {
    }
  } else {
    std::unique_lock lock(mutex_);
    hosts_changed_.wait_until(lock, limit, [this] { return hosts_ == 0; });
  }
  if (none_left()) return;
  log::error("actors did not end in time; the process exits without them",
             {{"actors", hosts_}, {"services_with_hung_replicas", hung(all)}});
  leave_at_once();
}

bool system_core::step_deterministic() {
  auto& time = static_cast<virtual_clock&>(*clock_);
  if (virtual_threads_) return virtual_threads_->step(order_) || time.advance_to_next();
  auto& scheduler = deterministic_scheduler(*actors_);
  order_.add_all(scheduler.jobs);
  auto* next = order_.take([](caf::resumable*) { return true; });
  if (!next) return time.advance_to_next();
  scheduler.jobs.push_front(next);
  scheduler.run_once();
  return true;
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

/// Describes the services with unanswered calls for the deadlock's message: ": counter (3 in
/// flight, 1 waiting)".
std::string system_core::unanswered() const {
  std::lock_guard lock(mutex_);
  std::string text;
  for (const auto& [number, known] : services_) {
    std::int64_t in_flight = 0;
    for (const auto& slot : *known.state->table()) in_flight += slot->pending.load();
    if (in_flight == 0 && known.state->waiting() == 0) continue;
    text += (text.empty() ? ": " : ", ") + known.state->options.name + " (" +
            std::to_string(in_flight) + " in flight, " + std::to_string(known.state->waiting()) +
            " waiting)";
  }
  return text;
}

/// Returns the names of the services that have abandoned replicas, `among` and stopped ones, such
/// as "env, policy", or "none".
std::string system_core::hung(const std::vector<std::shared_ptr<service_state>>& among) const {
  std::lock_guard lock(mutex_);
  auto all = hung_;
  for (const auto& service : among) {
    if (service->abandoned.load() > 0) all.insert(service->options.name);
  }
  std::string names;
  for (const auto& name : all) names += (names.empty() ? "" : ", ") + name;
  return names.empty() ? "none" : names;
}

}  // namespace troupe::detail
