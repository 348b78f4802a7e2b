#include "runtime/actor/job_queue.hpp"

#include <utility>

namespace troupe::detail {

void job_queue::push(caf::resumable* job, from where) {
  std::shared_ptr<bells> keeping;
  std::condition_variable* bell = nullptr;
  {
    std::lock_guard lock(mutex_);
    if (size() == ring_.size()) grow();
    at(end_++) = job;
    if (where == from::turn && size() == 1) {
      if (idle_ == 0 || watched_ || wanted_) return;
      wanted_ = true;
      bell = &bells_->job;
    } else {
      if (asked_ == idle_) return;
      const std::size_t free = idle_ - watched_;
      bell = asked_++ < free ? &bells_->job : &bells_->watch;
    }
    keeping = bells_;
  }
  bell->notify_one();
}

caf::resumable* job_queue::take() {
  return take_unless([] { return false; });
}

caf::resumable* job_queue::try_take() {
  std::lock_guard lock(mutex_);
  return empty() ? nullptr : pop();
}

void job_queue::grow() {
  std::vector<caf::resumable*> larger(2 * ring_.size());
  for (auto number = begin_; number != end_; ++number) {
    larger[number & (larger.size() - 1)] = at(number);
  }
  ring_ = std::move(larger);
}

caf::resumable* job_queue::pop() noexcept {
  auto* job = at(begin_++);
  if (empty()) asked_ = 0;  // This thread came first.
  return job;
}

bool job_queue::wait(std::unique_lock<std::mutex>& lock) {
  if (asked_ == 0 && std::exchange(wanted_, false)) return keep_watch(lock);
  if (asked_ == 0) bells_->job.wait(lock);
  if (asked_ == 0) return false;
  --asked_;
  return true;
}

bool job_queue::keep_watch(std::unique_lock<std::mutex>& lock) {
  watched_ = true;
  bool found = false;
  for (;;) {
    const auto before = begin_;
    const bool lies = !empty();
    const auto woken = bells_->watch.wait_for(lock, watch_);
    if (asked_ > 0) {
      --asked_;
      found = true;
      break;
    }
    if (woken == std::cv_status::no_timeout) break;
    if (begin_ != before) {  // The others do come for their jobs.
      watch_ = std::min<std::chrono::microseconds>(2 * watch_, long_watch);
    } else if (lies) {
      watch_ = short_watch;
      found = true;
      break;
    } else if (empty()) {
      break;  // Nothing moves. Whoever leaves a job next wakes somebody.
    }
  }
  watched_ = false;
  wanted_ = !found && !empty();
  return found;
}

}  // namespace troupe::detail
