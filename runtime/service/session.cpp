#include "runtime/service/service.hpp"

namespace troupe::detail {

namespace {

/// Awaits, in the service's line, that something changes there: a replica comes, or the end.
class change final : private line_member {
 public:
  explicit change(service_state& service) : service_(service) {}
  change(const change&) = delete;
  ~change() {
    if (ticket_) service_.leave(*ticket_, nullptr);
  }

  /// Enters the line: what changes from here on is not missed. False if the line is full.
  bool enter() {
    auto& calls = caller::current();
    home_ = &calls.home();
    ticket_ = std::make_shared<ticket>();
    ticket_->who = calls.me();
    ticket_->waiting = this;
    if (service_.wait(ticket_)) return true;
    ticket_ = nullptr;
    return false;
  }

  bool await_ready() const noexcept { return changed_; }
  void await_suspend(std::coroutine_handle<> h) noexcept { waiter_.handle = h; }
  void await_resume() const noexcept {}

 private:
  void called_up() override {
    changed_ = true;
    if (waiter_.handle) home_->wake(waiter_);
  }

  service_state& service_;
  strand* home_ = nullptr;
  std::shared_ptr<ticket> ticket_;
  bool changed_ = false;
  waiter waiter_;
};

task<> until_ready(std::shared_ptr<service_state> service) {
  for (;;) {
    change next(*service);
    const bool in_line = next.enter();
    if (!service->table()->empty()) co_return;
    if (const auto reason = service->closed()) {
      throw call_error(error_kind::service_down, service->options.name + ": " + *reason);
    }
    if (!in_line) {
      throw call_error(error_kind::overloaded, service->options.name + ": " +
                                                   std::to_string(service->options.max_waiting) +
                                                   " callers wait already (max_waiting)");
    }
    co_await next;
  }
}

task<> ready_in_time(std::shared_ptr<service_state> service, call_options options) {
  if (!service) throw std::logic_error("a service handle that names no service was called");
  if (!service->table()->empty()) co_return;
  if (!options.wait && !service->closed()) {
    throw call_error(error_kind::overloaded, service->options.name + ": no replica is ready");
  }
  const auto limit = options.deadline == duration(0) ? service->options.deadline : options.deadline;
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

}  // namespace

task<std::shared_ptr<session_lease>> open_session(std::shared_ptr<service_state> service,
                                                  call_options options) {
  for (;;) {
    co_await ready_in_time(service, options);
    auto& calls = caller::current();
    if (auto slot = calls.for_session(calls.view(*service))) {
      co_return std::make_shared<session_lease>(std::move(slot));
    }
    // Those in the table have died, and their supervisor is about to hear of it.
    co_await sleep_for(std::chrono::milliseconds(1));
  }
}

task<std::shared_ptr<const replica_table>> open_table(std::shared_ptr<service_state> service,
                                                      call_options options) {
  co_await ready_in_time(service, options);
  co_return service->table();
}

}  // namespace troupe::detail
