#pragma once
// The gate by which an asynchronous loop keeps episodes and updates of the weights apart.

#include <cstdint>
#include <utility>

#include "runtime/coroutine/condition.hpp"
#include "runtime/coroutine/task.hpp"

namespace troupe::loops {

/// A gate for the coroutines of one actor. While it is closed no episode begins, so that no episode
/// sees two versions of the weights:
///
///   const auto closed = co_await gate.close();  // waits until no episode is under way
///   co_await push_weights(...);
class update_gate {
 public:
  /// An episode is under way for as long as its pass lives.
  class pass {
   public:
    explicit pass(update_gate& of) : of_(&of) { ++of_->inside_; }
    pass(pass&& other) noexcept : of_(std::exchange(other.of_, nullptr)) {}
    pass& operator=(pass&&) = delete;
    ~pass() {
      if (of_ && --of_->inside_ == 0) of_->changed_.notify_all();
    }

   private:
    update_gate* of_;
  };

  /// Holds the gate closed for as long as it lives.
  class closure {
   public:
    explicit closure(update_gate& of) : of_(&of) { of_->closed_ = true; }
    closure(closure&& other) noexcept : of_(std::exchange(other.of_, nullptr)) {}
    closure& operator=(closure&&) = delete;
    ~closure() {
      if (!of_) return;
      of_->closed_ = false;
      of_->changed_.notify_all();
    }

   private:
    update_gate* of_;
  };

  /// Waits until the gate is open.
  task<pass> enter() {
    while (closed_) co_await changed_.wait();
    co_return pass(*this);
  }
  /// Closes the gate and waits until all passes have ended.
  task<closure> close() {
    closure held(*this);
    while (inside_ > 0) co_await changed_.wait();
    co_return held;
  }

 private:
  bool closed_ = false;
  std::int64_t inside_ = 0;
  condition changed_;
};

}  // namespace troupe::loops
