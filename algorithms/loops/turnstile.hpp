#pragma once
// The mutex by which an asynchronous loop lets one coroutine at a time wait for admission.

#include <utility>

#include "runtime/coroutine/condition.hpp"
#include "runtime/coroutine/task.hpp"

namespace troupe::loops::detail {

/// A mutex for the coroutines of one actor.
class turnstile {
 public:
  /// Holds the mutex until it is destroyed.
  class turn {
   public:
    explicit turn(turnstile& of) : of_(&of) { of_->taken_ = true; }
    turn(turn&& other) noexcept : of_(std::exchange(other.of_, nullptr)) {}
    turn& operator=(turn&&) = delete;
    ~turn() {
      if (!of_) return;
      of_->taken_ = false;
      of_->free_.notify_all();
    }

   private:
    turnstile* of_;
  };

  task<turn> enter() {
    while (taken_) co_await free_.wait();
    co_return turn(*this);
  }

 private:
  bool taken_ = false;
  condition free_;
};

}  // namespace troupe::loops::detail
