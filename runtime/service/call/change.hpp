#pragma once

#include "runtime/service/call/caller.hpp"

namespace troupe::detail {

/// Awaits a change of a service: a replica comes, a replica goes, or the service ends.
class change final : private queue_waiter {
 public:
  enum class as {
    caller,  ///< Counts as one of the callers that wait in the service's queue.
    watcher  ///< Waits beside the queue and doesn't count.
  };

  explicit change(service_state& service, as who = as::caller) : service_(service), who_(who) {}
  change(const change&) = delete;
  ~change() {
    if (!ticket_) return;
    if (who_ == as::watcher) {
      service_.unwatch(*ticket_);
    } else {
      service_.leave(*ticket_, nullptr);
    }
  }

  /// Registers for changes; no change from here on is missed. Returns false if the queue is full.
  bool enter() {
    auto& calls = caller::current();
    home_ = &calls.home();
    ticket_ = std::make_shared<ticket>();
    ticket_->who = calls.me();
    ticket_->waiting = this;
    if (who_ == as::watcher) {
      service_.watch(ticket_);
      return true;
    }
    if (service_.wait(ticket_)) return true;
    ticket_ = nullptr;
    return false;
  }

  bool await_ready() const noexcept { return changed_; }
  void await_suspend(std::coroutine_handle<> h) noexcept { waiter_.handle = h; }
  void await_resume() const noexcept {}

 private:
  void notified() override {
    changed_ = true;
    if (waiter_.handle) home_->wake(waiter_);
  }

  service_state& service_;
  const as who_;
  strand* home_ = nullptr;
  std::shared_ptr<ticket> ticket_;
  bool changed_ = false;
  waiter waiter_;
};

}  // namespace troupe::detail
