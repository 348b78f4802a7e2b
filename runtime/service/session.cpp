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
  bool exclusive = false;
  bool wait = true;
  time_point until = time_point::max();
};

/// Awaits a session, which may be granted at once or in the service's queue.
class opening final : private queue_waiter {
 public:
  opening(std::shared_ptr<service_state> service, const session_terms& terms)
      : service_(std::move(service)), home_(caller::current().home()) {
    request_ = std::make_shared<session_request>();
    request_->who = caller::current().me();
    request_->exclusive = terms.exclusive;
    request_->wait = terms.wait;
    request_->until = terms.until;
    request_->waiting = this;
  }
  opening(const opening&) = delete;
  ~opening() { service_->sessions().give_up(request_); }

  session_queue::place enter() {
    return service_->sessions().enter(request_, service_->options.max_waiting);
  }
  /// Returns the session, or null until it is granted. Throws the error of an owner in another
  /// process that has refused it.
  std::shared_ptr<session_lease> take() {
    auto slot = service_->sessions().take(*request_);
    if (!slot) return nullptr;
    return std::make_shared<session_lease>(service_, request_, std::move(slot));
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

  std::shared_ptr<service_state> service_;
  strand& home_;
  std::shared_ptr<session_request> request_;
  bool called_ = false;
  waiter waiter_;
};

task<std::shared_ptr<session_lease>> next_session(std::shared_ptr<service_state> service,
                                                  session_terms terms) {
  for (;;) {
    opening mine(service, terms);
    if (mine.enter() == session_queue::place::full) {
      throw call_error(error_kind::overloaded, service->options.name + ": " +
                                                   std::to_string(service->options.max_waiting) +
                                                   " wait for a session already (max_waiting)");
    }
    auto lease = mine.take();
    while (!lease) {
      if (const auto reason = service->closed()) {
        throw call_error(error_kind::service_down, service->options.name + ": " + *reason);
      }
      co_await mine;
      lease = mine.take();
    }
    // If the replica died before this was noticed, the loop asks again.
    if (!lease->slot->ended()) co_return lease;
  }
}

/// Describes why no session is available at once.
std::string occupied(const service_state& service, bool exclusive) {
  if (service.table()->empty()) return service.options.name + ": no replica is ready";
  return service.options.name +
         (exclusive ? ": every replica has a session" : ": every replica has an exclusive session");
}

}  // namespace

task<std::shared_ptr<session_lease>> open_session(std::shared_ptr<service_state> service,
                                                  call_options call, session_options options) {
  if (!service) throw std::logic_error("a service handle that names no service was called");
  const auto limit = limit_of(*service, call);
  session_terms terms{.exclusive = options.exclusive, .wait = call.wait};
  if (limit != no_limit) terms.until = later(strand::current().now(), limit);
  if (!call.wait && !service->sessions().asks_elsewhere()) {
    opening now(service, terms);
    now.enter();
    if (auto lease = now.take()) co_return lease;
    if (!service->closed()) {
      throw call_error(error_kind::overloaded, occupied(*service, options.exclusive));
    }
  }
  if (limit == no_limit) co_return co_await next_session(service, terms);
  try {
    co_return co_await with_timeout(next_session(service, terms), limit);
  } catch (const call_error& e) {
    if (e.kind() != error_kind::deadline_exceeded) throw;
  }
  throw call_error(
      error_kind::deadline_exceeded,
      occupied(*service, options.exclusive) + "; a session was awaited for " + to_text(limit));
}

task<std::shared_ptr<const replica_table>> open_table(std::shared_ptr<service_state> service,
                                                      call_options options) {
  if (!service) throw std::logic_error("a service handle that names no service was called");
  co_await ready_in_time(service, options);
  co_return service->table();
}

}  // namespace troupe::detail
