#pragma once

#include "runtime/service/caller.hpp"

namespace troupe::detail {

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

}  // namespace troupe::detail
