#pragma once
// The mutex by which an asynchronous loop lets one coroutine at a time wait for admission.

#include <utility>

#include "runtime/coroutine/condition.hpp"
#include "runtime/coroutine/task.hpp"

namespace troupe::loops::detail {

/// A mutex for the coroutines of one actor.
class async_mutex {
 public:
  /// Holds the mutex until it is destroyed.
  class guard {
   public:
    explicit guard(async_mutex& of) : of_(&of) { of_->taken_ = true; }
    guard(guard&& other) noexcept : of_(std::exchange(other.of_, nullptr)) {}
    guard& operator=(guard&&) = delete;
    ~guard() {
      if (!of_) return;
      of_->taken_ = false;
      of_->free_.notify_all();
    }

   private:
    async_mutex* of_;
  };

  task<guard> lock() {
    while (taken_) co_await free_.wait();
    co_return guard(*this);
  }

 private:
  bool taken_ = false;
  condition free_;
};

}  // namespace troupe::loops::detail
