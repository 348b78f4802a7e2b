#pragma once
// Threads that actors have of their own. Internal to runtime/.

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace troupe::detail {

/// Counts actors with a thread of their own, from their constructor to their destructor. Until then
/// such a thread needs CAF's clock, so the actor system, which doesn't wait for it before it stops
/// that, must not end. Any thread.
class own_threads {
 public:
  void add() {
    std::lock_guard lock(mutex_);
    ++count_;
  }
  void remove() {
    std::lock_guard lock(mutex_);
    if (--count_ == 0) none_left_.notify_all();
  }
  std::size_t count() const {
    std::lock_guard lock(mutex_);
    return count_;
  }
  /// Waits until there is none. False if there are some at `limit`.
  bool none_by(std::chrono::steady_clock::time_point limit) {
    std::unique_lock lock(mutex_);
    return none_left_.wait_until(lock, limit, [this] { return count_ == 0; });
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable none_left_;
  std::size_t count_ = 0;
};

}  // namespace troupe::detail
