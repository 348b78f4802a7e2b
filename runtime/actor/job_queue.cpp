#include "runtime/actor/job_queue.hpp"

#include <utility>

namespace troupe::detail {

template <class Which>
void job_queue::push_to(ring& jobs, caf::resumable* job, Which which) {
  std::shared_ptr<bells> keeping;
  std::condition_variable* bell;
  {
    std::lock_guard lock(mutex_);
    jobs.push(job);
    bell = which();
    if (!bell) return;
    keeping = bells_;
  }
  bell->notify_one();
}

void job_queue::push(caf::resumable* job, from where) {
  push_to(jobs_, job, [&] { return bell_for(where); });
}

void job_queue::push_urgent(caf::resumable* job, from where) {
  push_to(urgent_, job, [&] { return bell_for_urgent(where); });
}

std::condition_variable* job_queue::bell_for(from where) noexcept {
  if (where == from::turn && size() == 1) {
    if (idle_ == 0) return bell_of_reserve();
    if (watched_ || wanted_) return nullptr;
    wanted_ = true;
    return &bells_->job;
  }
  if (asked_ == idle_) return bell_of_reserve();
  const std::size_t free = idle_ - watched_;
  return asked_++ < free ? &bells_->job : &bells_->watch;
}

/// An idle thread, or one that has just been woken, takes an urgent job before anything else.
std::condition_variable* job_queue::bell_for_urgent(from where) noexcept {
  return idle_ > asked_ ? bell_for(where) : bell_of_reserve();
}

std::condition_variable* job_queue::bell_of_reserve() noexcept {
  return std::exchange(reserve_rests_, false) ? &bells_->reserve : nullptr;
}

/// Requires the lock.
caf::resumable* job_queue::rescued(caf::resumable* job) noexcept {
  taken_when_rescued_ = jobs_.taken();
  if (empty()) asked_ = 0;
  return job;
}

caf::resumable* job_queue::take() {
  return take_unless([] { return false; });
}

caf::resumable* job_queue::try_take() {
  std::lock_guard lock(mutex_);
  return empty() ? nullptr : pop();
}

void job_queue::ring::push(caf::resumable* job) {
  if (size() == jobs_.size()) {
    std::vector<caf::resumable*> larger(2 * jobs_.size());
    for (auto number = begin_; number != end_; ++number) {
      larger[number & (larger.size() - 1)] = at(number);
    }
    jobs_ = std::move(larger);
  }
  at(end_++) = job;
}

caf::resumable* job_queue::pop() noexcept {
  auto* job = urgent_.empty() ? jobs_.pop() : urgent_.pop();
  if (empty()) asked_ = 0;  // This thread was quicker than those that were woken.
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
    const auto before = taken();
    const bool lies = !empty();
    const auto woken = bells_->watch.wait_for(lock, watch_);
    if (asked_ > 0) {
      --asked_;
      found = true;
      break;
    }
    if (woken == std::cv_status::no_timeout) break;
    if (taken() != before) {  // The other threads do come for their jobs.
      watch_ = longer(watch_, long_watch);
    } else if (lies) {
      watch_ = short_watch;
      found = true;
      break;
    } else if (empty()) {
      break;  // No job has moved. The next thread that leaves a job wakes another one.
    }
  }
  watched_ = false;
  wanted_ = !found && !empty();
  return found;
}

}  // namespace troupe::detail
