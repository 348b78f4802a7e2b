#pragma once
// What the threads of a pool are to do next. Internal to runtime/.

#include <algorithm>
#include <caf/resumable.hpp>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace troupe::detail {

/// Actors with mail, first come, first served. Any thread.
///
/// To wake a thread costs ten times what a message does, and moves an actor's data to another core.
/// So a job that a thread of the pool adds in its turn is left to that thread, which comes for it
/// when its turn ends: a caller and a replica who take turns do so on one core. A second job is
/// for others. For a turn that goes on and on, one thread of those that have nothing to do keeps
/// watch, and takes a job that has lain there for a moment.
///
/// An urgent job comes before all others. Where every thread of the pool is busy, a thread takes it
/// that does nothing else: the reserve.
class job_queue {
 public:
  enum class from {
    outside,  ///< No thread of the pool: it won't come for it.
    turn      ///< A thread of the pool, in its turn.
  };

  void push(caf::resumable* job, from where);
  void push_urgent(caf::resumable* job, from where);

  /// Waits for a job.
  caf::resumable* take();
  /// Waits for a job, or until `ends` is true: then null. It is called under the lock, and not
  /// again once it was true.
  template <class Ends>
  caf::resumable* take_unless(Ends ends);
  /// The reserve's: waits for an urgent job that no thread of the pool comes for, or until `ends`
  /// is true: then null. For one thread. `ends` is called under the lock.
  template <class Ends>
  caf::resumable* take_urgent_unless(Ends ends);

  /// The first, or null. Doesn't wait.
  caf::resumable* try_take();

  /// Changes what an `ends` looks at, and has every thread that waits look again.
  template <class Change>
  void change(Change change);

 private:
  /// How long a job lies before the watch takes it: the shortest while that happens, else longer.
  static constexpr auto short_watch = std::chrono::microseconds(100);
  static constexpr auto long_watch = std::chrono::microseconds(800);

  /// First come, first served.
  class ring {
   public:
    bool empty() const noexcept { return begin_ == end_; }
    std::size_t size() const noexcept { return end_ - begin_; }
    /// How many were taken until now.
    std::uint64_t taken() const noexcept { return begin_; }
    void push(caf::resumable* job);
    caf::resumable* pop() noexcept { return at(begin_++); }

   private:
    caf::resumable*& at(std::uint64_t number) noexcept {
      return jobs_[number & (jobs_.size() - 1)];
    }

    std::vector<caf::resumable*> jobs_ = std::vector<caf::resumable*>(64);  ///< A power of two.
    std::uint64_t begin_ = 0;
    std::uint64_t end_ = 0;
  };

  bool empty() const noexcept { return jobs_.empty() && urgent_.empty(); }
  std::size_t size() const noexcept { return jobs_.size() + urgent_.size(); }
  std::uint64_t taken() const noexcept { return jobs_.taken() + urgent_.taken(); }
  caf::resumable* pop() noexcept;
  /// A job has been added: who is to be woken for it, if anybody.
  std::condition_variable* bell_for(from where) noexcept;
  std::condition_variable* bell_for_urgent(from where) noexcept;
  template <class Which>
  void push_to(ring& jobs, caf::resumable* job, Which which);
  /// How long a job may lie before it is taken, as it was seen to move or not.
  static std::chrono::microseconds longer(std::chrono::microseconds watch) {
    return std::min<std::chrono::microseconds>(2 * watch, long_watch);
  }
  /// A thread with nothing to do waits once; true: it may take a job.
  bool wait(std::unique_lock<std::mutex>& lock);
  bool keep_watch(std::unique_lock<std::mutex>& lock);

  /// What waits are ended by. Rung when the lock is free, so that who is woken need not wait for
  /// it. By then the job may have been the last, and this queue gone: whoever rings keeps them.
  struct bells {
    /// The watch has one of its own, to be left to its task.
    std::condition_variable job, watch, reserve;
  };

  std::mutex mutex_;
  const std::shared_ptr<bells> bells_ = std::make_shared<bells>();
  ring jobs_, urgent_;
  std::size_t idle_ = 0;        ///< Threads that wait, without the reserve.
  std::size_t asked_ = 0;       ///< Of the idle, those that were woken for a job.
  bool watched_ = false;        ///< One of the idle keeps watch.
  bool wanted_ = false;         ///< One of the idle is to begin it.
  bool reserve_rests_ = false;  ///< It waits to be woken.
  std::chrono::microseconds watch_ = short_watch;
};

template <class Ends>
caf::resumable* job_queue::take_unless(Ends ends) {
  std::unique_lock lock(mutex_);
  bool ended = ends();
  if (!ended && empty()) {
    ++idle_;
    while (!(ended = ends()) && !wait(lock)) {
    }
    --idle_;
    asked_ = std::min(asked_, idle_);
  }
  if (!ended) return pop();
  bells_->job.notify_one();  // What woke it may have been a job.
  bells_->watch.notify_one();
  bells_->reserve.notify_one();
  return nullptr;
}

template <class Ends>
caf::resumable* job_queue::take_urgent_unless(Ends ends) {
  std::unique_lock lock(mutex_);
  for (auto watch = std::chrono::microseconds(short_watch); !ends();) {
    if (urgent_.empty()) {
      reserve_rests_ = true;
      bells_->reserve.wait(lock);
      reserve_rests_ = false;
      watch = short_watch;
      continue;
    }
    // The pool's threads come first: one may be about to.
    const auto before = urgent_.taken();
    bells_->reserve.wait_for(lock, watch);
    if (urgent_.taken() != before) {
      watch = longer(watch);
    } else if (!urgent_.empty()) {
      return pop();
    }
  }
  return nullptr;
}

template <class Change>
void job_queue::change(Change change) {
  std::lock_guard lock(mutex_);
  change();
  bells_->job.notify_all();
  bells_->reserve.notify_all();
  bells_->watch.notify_all();
}

}  // namespace troupe::detail
