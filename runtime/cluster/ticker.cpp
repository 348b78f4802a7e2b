#include "runtime/cluster/ticker.hpp"

#include <utility>

#include "runtime/base/quiet_thread.hpp"

namespace troupe::detail {

void ticker::start(std::function<clock::time_point(clock::time_point)> action) {
  action_ = std::move(action);
  thread_ = quiet_thread([this] { run(); });
}

void ticker::stop() {
  {
    const std::lock_guard held(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void ticker::hurry() {
  {
    const std::lock_guard held(mutex_);
    hurried_ = true;
  }
  changed_.notify_one();
}

void ticker::run() {
  std::unique_lock held(mutex_);
  while (!stopping_) {
    held.unlock();
    const auto next = action_(clock::now());
    held.lock();
    changed_.wait_until(held, next, [this] { return stopping_ || hurried_; });
    hurried_ = false;
  }
}

}  // namespace troupe::detail
