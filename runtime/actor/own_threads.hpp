#pragma once
// Counts the actors that have a thread of their own, so that the system can wait for them. Internal
// to runtime/.

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace troupe::detail {

/// Counts actors with a thread of their own, from their constructor to their destructor. Such a
/// thread needs CAF's clock until then. CAF's actor system stops the clock without waiting for the
/// thread, so it must not end earlier. Any thread may use it.
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
  /// Waits until the count is 0. Returns false if it isn't at `limit`.
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
