#include <algorithm>

#include "runtime/service/call/change.hpp"
#include "runtime/service/service.hpp"

namespace troupe::detail {

namespace {

task<> until_ready(std::shared_ptr<service_state> service) {
  for (;;) {
    change next(*service);
    const bool queued = next.enter();
    if (!service->table()->empty()) co_return;
    if (const auto reason = service->closed()) {
      throw call_error(error_kind::service_down, service->options.name + ": " + *reason);
    }
    if (!queued) {
      throw call_error(error_kind::overloaded, service->options.name + ": " +
                                                   std::to_string(service->options.max_waiting) +
                                                   " callers wait already (max_waiting)");
    }
    co_await next;
  }
}

duration limit_of(const service_state& service, const call_options& options) {
  return options.deadline == duration(0) ? service.options.deadline : options.deadline;
}

task<> ready_in_time(std::shared_ptr<service_state> service, call_options options) {
  if (!service->table()->empty()) co_return;
  if (!options.wait && !service->closed()) {
    throw call_error(error_kind::overloaded, service->options.name + ": no replica is ready");
  }
  const auto limit = limit_of(*service, options);
  if (limit == no_limit) {
    co_await until_ready(service);
    co_return;
  }
  std::vector<task<>> either;
  either.push_back(until_ready(service));
  either.push_back(sleep_task(limit));
  const auto first = co_await any(std::move(either));
  if (first.index == 1) {
    throw call_error(error_kind::deadline_exceeded,
                     service->options.name + ": no replica was ready within " + to_text(limit));
  }
}

struct session_terms {
  std::size_t count = 1;
  bool exclusive = false;
  bool wait = true;
  time_point until = time_point::max();
};

using leases = std::vector<std::shared_ptr<session_lease>>;

/// Awaits sessions, which may be granted at once or in the service's queue.
class opening final : private queue_waiter {
 public:
  opening(std::shared_ptr<service_state> service, const session_terms& terms)
      : service_(std::move(service)), home_(caller::current().home()) {
    for (std::size_t i = 0; i < terms.count; ++i) {
      const auto request = std::make_shared<session_request>();
      request->by_slice = home_.slice;
      request->who = caller::current().me();
      request->exclusive = terms.exclusive;
      request->wait = terms.wait;
      request->until = terms.until;
      request->waiting = this;
      group_.push_back(request);
    }
  }
  opening(const opening&) = delete;
  ~opening() {
    for (const auto& request : group_) service_->sessions().give_up(request);
  }

  session_queue::place enter() {
    return service_->sessions().enter(group_, service_->options.max_waiting);
  }
  /// Returns the sessions, or none until they are granted. Throws the error of an owner in another
  /// process that has refused them.
  leases take() {
    leases taken;
    for (const auto& request : group_) {
      if (auto slot = service_->sessions().take(*request)) {
        taken.push_back(std::make_shared<session_lease>(service_, request, std::move(slot)));
      }
    }
    if (taken.empty() && !members_.empty()) {
      throw call_error(
          error_kind::overloaded,
          service_->options.name +
              ": a session was awaited: services wait for each other in a cycle: " + members_);
    }
    return taken;
  }

  bool await_ready() const noexcept { return called_; }
  void await_suspend(std::coroutine_handle<> h) noexcept { waiter_.handle = h; }
  void await_resume() noexcept {
    called_ = false;
    waiter_.handle = nullptr;
  }

 private:
  void notified() override {
    called_ = true;
    if (waiter_.handle) home_.wake(waiter_);
  }
  void in_cycle(const std::string& members) override {
    members_ = members;
    notified();
  }

  std::shared_ptr<service_state> service_;
  strand& home_;
  session_group group_;
  bool called_ = false;
  std::string members_;  ///< Of the cycle in which it waits; empty if there is none.
  waiter waiter_;
};

task<leases> next_sessions(std::shared_ptr<service_state> service, session_terms terms) {
  for (;;) {
    opening mine(service, terms);
    if (mine.enter() == session_queue::place::full) {
      throw call_error(error_kind::overloaded, service->options.name + ": " +
                                                   std::to_string(service->options.max_waiting) +
                                                   " wait for a session already (max_waiting)");
    }
    auto taken = mine.take();
    if (taken.empty()) service->note_wait();
    while (taken.empty()) {
      if (const auto reason = service->closed()) {
        throw call_error(error_kind::service_down, service->options.name + ": " + *reason);
      }
      co_await mine;
      taken = mine.take();
    }
    // If a replica died before this was noticed, the loop asks again.
    if (std::none_of(taken.begin(), taken.end(), [](const auto& l) { return l->slot->ended(); })) {
      co_return taken;
    }
  }
}

/// Describes why no session is available at once.
std::string occupied(const service_state& service, const session_terms& terms) {
  if (service.table()->empty()) return service.options.name + ": no replica is ready";
  if (terms.count > 1) {
    return service.options.name + ": fewer than " + std::to_string(terms.count) +
           " replicas are without a session";
  }
  return service.options.name + (terms.exclusive ? ": every replica has a session"
                                                 : ": every replica has an exclusive session");
}

}  // namespace

task<leases> open_sessions(std::shared_ptr<service_state> service, call_options call,
                           session_options options, std::size_t count) {
  if (!service) throw std::logic_error("a service handle that names no service was called");
  if (count > 1 && service->sessions().asks_elsewhere()) {
    throw std::logic_error(service->options.name +
                           ": sessions: expected the process that serves the service, got another "
                           "one, where sessions can be had one by one only");
  }
  if (count == 0) co_return leases();
  const auto limit = limit_of(*service, call);
  session_terms terms{
      .count = count, .exclusive = options.exclusive || count > 1, .wait = call.wait};
  if (limit != no_limit) terms.until = later(strand::current().now(), limit);
  if (!call.wait && !service->sessions().asks_elsewhere()) {
    opening now(service, terms);
    now.enter();
    if (auto taken = now.take(); !taken.empty()) co_return taken;
    if (!service->closed()) {
      throw call_error(error_kind::overloaded, occupied(*service, terms));
    }
  }
  if (limit == no_limit) co_return co_await next_sessions(service, terms);
  try {
    co_return co_await with_timeout(next_sessions(service, terms), limit);
  } catch (const call_error& e) {
    if (e.kind() != error_kind::deadline_exceeded) throw;
  }
  throw call_error(error_kind::deadline_exceeded,
                   occupied(*service, terms) + "; a session was awaited for " + to_text(limit));
}

task<std::shared_ptr<const replica_table>> open_table(std::shared_ptr<service_state> service,
                                                      call_options options) {
  if (!service) throw std::logic_error("a service handle that names no service was called");
  co_await ready_in_time(service, options);
  co_return service->table();
}

}  // namespace troupe::detail
