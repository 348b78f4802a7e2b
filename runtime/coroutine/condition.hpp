#pragma once
// A condition variable for the coroutines of one actor.

#include "runtime/coroutine/strand.hpp"

namespace troupe {

/// Coroutines of an actor wait for it until another coroutine of the actor calls notify_all:
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

  /// Suspends the coroutine until the next notify_all. Check the condition again afterwards,
  /// because another coroutine may have run first.
  waiting wait() { return waiting(waiting_); }

  /// Wakes every coroutine that waits.
  void notify_all() {
    while (!waiting_.empty()) detail::strand::current().wake(waiting_.front());
  }

 private:
  detail::list<detail::waiter> waiting_;
};

}  // namespace troupe
