#include "runtime/service/supervision/service_context.hpp"

#include <algorithm>

#include "runtime/base/log.hpp"
#include "runtime/coroutine/sleep.hpp"
#include "runtime/service/supervision/cycle_watch.hpp"
#include "runtime/service/supervision/option_checks.hpp"
#include "runtime/service/supervision/pool_collector.hpp"
#include "runtime/service/supervision/service_collector.hpp"
#include "runtime/service/supervision/supervisor.hpp"

namespace troupe::detail {

namespace {

/// Returns the supervisor whose turn it is.
supervisor& here() { return static_cast<supervisor&>(static_cast<host&>(strand::current())); }

}  // namespace

service_context::service_context(const actor_options& actors, const fault_plan& faults,
                                 duration cycle_check, std::shared_ptr<metrics_registry> metrics)
    : replica_context(actors, faults),
      metrics_(metrics ? std::move(metrics) : std::make_shared<metrics_registry>()),
      cycles_(
          std::make_shared<cycle_watch>(clock(), cycle_check, [this] { return all_services(); })),
      pool_collector_(deterministic() ? nullptr
                                      : std::make_shared<pool_collector>(findings_of_pool())),
      pool_held_(deterministic() ? metric_counter()
                                 : metrics_->counter(
                                       "troupe_pool_held_total",
                                       "Times that every thread of the pool was in a long turn.")) {
  if (pool_collector_) metrics_->watch(pool_collector_);
  watch_pool([this] { look_at_turns(); });
}

service_context::~service_context() { unwatch_pool(); }

/// Called on the clock's thread, from time to time. Counts the replicas that are in long turns. If
/// such turns hold every thread of the pool, it logs the services whose replicas do so. It also
/// logs services where sessions are awaited in vain.
void service_context::look_at_turns() {
  std::map<std::size_t, std::size_t> serving;  // Keyed by the service's number.
  std::map<std::string, std::size_t> in_pool;
  const auto now = clock().now();
  for (const auto& turn : local_turns().look(now)) {
    if (turn.seen_for < long_turn()) continue;
    if (!turn.abandoned) ++serving[turn.service];
    if (!turn.own_thread) {
      ++in_pool[turn.name];
    } else if (!turn.abandoned && local_turns().note_logged(turn.serial)) {
      log::info("a replica has been in one turn for long on a thread of its own",
                {{"service", turn.name},
                 {"replica", turn.replica},
                 {"longer_than", to_text(long_turn())}});
    }
  }
  for (const auto& service : all_services()) {
    const auto waiting = service->sessions().note_standstill(now, long_turn());
    if (waiting > 0) {
      log::info("sessions are awaited, and none has begun or ended for long",
                {{"service", service->options.name},
                 {"waiting", waiting},
                 {"longer_than", to_text(long_turn())}});
    }
    const auto found = serving.find(service->number);
    service->in_long_turns = found == serving.end() ? 0 : found->second;
  }
  const auto in_long_turns = findings_of_pool()->in_long_turns.load();
  const bool held = in_long_turns >= pool_threads();
  if (held == is_held_) return;
  is_held_ = held;
  if (!held) return log::info("threads of the pool have come back from long turns");
  pool_held_.increment();
  std::string names;
  for (const auto& [name, replicas] : in_pool) {
    names += (names.empty() ? "" : ", ") + name + " (" + std::to_string(replicas) +
             (replicas == 1 ? " replica)" : " replicas)");
  }
  log::warn("every thread of the pool has been in one turn for long, so others take their place",
            {{"longer_than", to_text(long_turn())},
             {"threads", in_long_turns},
             {"services", names.empty() ? "none" : names}});
}

void service_context::stop_looking_for_cycles() { cycles_->close(); }

void service_context::refuse_services() {
  std::lock_guard lock(mutex_);
  stopping_ = true;
}

std::shared_ptr<service_state> service_context::add_service(serve_options options) {
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
  // Whoever holds it last may be a program that has its handle, beyond this system's end.
  const auto end = [collector, metrics = metrics_](service_state* service) {
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

std::shared_ptr<service_state> service_context::add_unnamed(serve_options options) {
  std::lock_guard lock(mutex_);
  const std::shared_ptr<service_state> state = make_service(std::move(options));
  services_[state->number] = {state, nullptr, nullptr, false};
  return state;
}

/// Requires mutex_.
std::unique_ptr<service_state> service_context::make_service(serve_options options) {
  auto state = std::make_unique<service_state>(next_service_++, std::move(options), places_);
  state->wait_observer = cycles_;
  return state;
}

void service_context::make_findable(const service_state& service) {
  std::lock_guard lock(mutex_);
  services_.at(service.number).findable = true;
}

void service_context::remove_unnamed(const service_state& service) {
  std::lock_guard lock(mutex_);
  services_.erase(service.number);
}

std::size_t service_context::services() const {
  std::lock_guard lock(mutex_);
  return services_.size();
}

std::shared_ptr<service_state> service_context::find_service(const std::string& name) const {
  std::lock_guard lock(mutex_);
  for (const auto& [number, known] : services_) {
    if (known.findable && known.state->options.name == name && !known.state->closed()) {
      return known.state;
    }
  }
  return nullptr;
}

void service_context::set_supervisor(const service_state& service, ref<inbox> supervisor) {
  {
    std::lock_guard lock(mutex_);
    const auto known = services_.find(service.number);
    if (known != services_.end()) known->second.supervisor = supervisor;
  }
  // The service was stopped before its supervisor was known.
  if (service.closed()) supervisor->kill("its service is stopped");
}

void service_context::scale(const std::shared_ptr<service_state>& service, std::size_t replicas,
                            std::function<void(std::exception_ptr)> tell) {
  auto request = std::make_shared<scaling>(service, replicas, std::move(tell));
  ref<inbox> supervisor;
  {
    std::lock_guard lock(mutex_);
    const auto known = services_.find(service->number);
    if (known != services_.end()) supervisor = known->second.supervisor;
  }
  if (!supervisor || service->closed()) return;  // Dropping the request answers it.
  supervisor->post([request = std::move(request)] { here().scale(request); });
}

void service_context::stop_service(service_state& service) {
  service.close("it was stopped");
  const auto gone = forget(service);
  if (!gone.state) return;
  if (gone.supervisor) gone.supervisor->kill("its service is stopped");
  if (!stopping_) caller::tell_all_stopped(service);
}

void service_context::stop_services(duration limit, std::function<void()> tell) {
  // The last reference tells.
  const std::shared_ptr<void> awaited(nullptr, [tell = std::move(tell)](void*) { tell(); });
  for (const auto& service : last_first()) {
    if (!is_named(*service)) continue;
    service->has_successor = true;
    service->close("it was stopped");
    const auto gone = forget(*service);
    if (gone.supervisor) {
      gone.supervisor->post([awaited, limit] { here().leave_places(limit, [awaited] {}); });
    }
    caller::tell_all_stopped(*service);
  }
}

bool service_context::is_named(const service_state& service) const {
  std::lock_guard lock(mutex_);
  const auto known = services_.find(service.number);
  return known != services_.end() && known->second.collector;
}

service_context::entry service_context::forget(const service_state& service) {
  entry gone;
  {
    std::lock_guard lock(mutex_);
    const auto known = services_.find(service.number);
    if (known == services_.end()) return gone;
    gone = std::move(known->second);
    services_.erase(known);
  }
  if (gone.collector) gone.collector->stop();
  return gone;
}

std::vector<std::shared_ptr<service_state>> service_context::all_services() const {
  std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<service_state>> all;
  for (const auto& [number, known] : services_) all.push_back(known.state);
  return all;
}

std::vector<std::shared_ptr<service_state>> service_context::last_first() const {
  auto all = all_services();
  std::reverse(all.begin(), all.end());
  return all;
}

/// Describes the services with unanswered calls for the deadlock's message: ": counter (3 in
/// flight, 1 waiting)".
std::string service_context::unanswered() const {
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

std::set<std::string> service_context::hung(duration seen_for) {
  std::set<std::string> names;
  for (auto& turn : local_turns().look(clock().now())) {
    if (turn.seen_for >= seen_for) names.insert(std::move(turn.name));
  }
  return names;
}

}  // namespace troupe::detail
