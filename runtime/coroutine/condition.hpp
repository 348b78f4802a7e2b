#pragma once

#include "runtime/coroutine/strand.hpp"

namespace troupe {

/// Coroutines of one actor wait here until another coroutine of it says that something has changed:
///
///   while (items_.empty()) co_await changed_.wait();
class condition {
 public:
  class [[nodiscard("co_await it: otherwise nobody waits")]] waiting : detail::waiter {
   public:
    explicit waiting(detail::list<detail::waiter>& place) : place_(place) {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> h) {
      handle = h;
      place_.push_back(*this);
    }
    void await_resume() const noexcept {}

   private:
    detail::list<detail::waiter>& place_;
  };

  /// Suspends until the next notify_all. Look again afterwards: somebody else may have been
  /// quicker.
  waiting wait() { return waiting(waiting_); }

  void notify_all() {
    while (!waiting_.empty()) detail::strand::current().wake(waiting_.front());
  }

 private:
  detail::list<detail::waiter> waiting_;
};

}  // namespace troupe
