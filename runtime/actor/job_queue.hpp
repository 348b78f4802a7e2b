#pragma once
// The queue from which the threads of a pool take the actors that have mail. Internal to runtime/.

#include <algorithm>
#include <caf/resumable.hpp>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace troupe::detail {

/// A queue of actors with mail, first in, first out. Any thread may use it.
///
/// Waking a thread costs ten times as much as a message, and moves an actor's data to another core.
/// So a job that a thread of the pool adds in its turn is left to that thread, which takes it when
/// its turn ends. A caller and a replica that take turns therefore stay on one core. If a turn adds
/// a second job, another thread is woken for it. In case a turn goes on for long, one of the idle
/// threads keeps watch, and takes a job that has waited for a moment.
///
/// An urgent job comes before all others. If every thread of the pool is busy, the reserve takes
/// it, a thread that never runs ordinary jobs. An assured job has its place in the order of the
/// ordinary ones, but if the pool takes no job for some milliseconds, the reserve takes it, too.
/// The reserve looks at the queue from time to time while it isn't empty. Waking it for each job
/// would cost as much as many messages.
class job_queue {
 public:
  enum class from {
    outside,  ///< A thread that is not of the pool, and doesn't come for the job itself.
    turn      ///< A thread of the pool, in its turn.
  };

  void push(caf::resumable* job, from where);
  void push_urgent(caf::resumable* job, from where);

  /// Waits for a job.
  caf::resumable* take();
  /// Waits for a job, or until `ends` returns true; then it returns null. `ends` is called under
  /// the lock, and not again once it has returned true.
  template <class Ends>
  caf::resumable* take_unless(Ends ends);
  /// Waits for an urgent or assured job that no thread of the pool comes for, or until `ends`
  /// returns true; then it returns null. Only one thread, the reserve, may call it. `ends`, and
  /// `assured`, which says whether a job is, are called under the lock.
  template <class Ends, class Assured>
  caf::resumable* take_urgent_unless(Ends ends, Assured assured);

  /// What lies in the queue at one moment.
  struct sight {
    std::uint64_t taken;   ///< The jobs that were taken until now.
    std::size_t waiting;   ///< The jobs that wait.
    bool assured_waiting;  ///< True if one of them is urgent or assured, and none was taken since.
  };
  /// Looks at the queue. `taken_before` is `taken` of the last look.
  template <class Assured>
  sight look(std::uint64_t taken_before, Assured assured) const;

  /// Takes the first job, or returns null if there is none. It doesn't wait.
  caf::resumable* try_take();

  /// Calls `change` under the lock, to change what an `ends` reads, and has every waiting thread
  /// call its `ends` again.
  template <class Change>
  void change(Change change);
  /// Calls `read` under the lock.
  template <class Read>
  void read(Read read) const {
    std::lock_guard lock(mutex_);
    read();
  }

 private:
  /// The time for which a job waits before the watching thread takes it. It is `short_watch` as
  /// long as jobs do wait that long, and doubles up to `long_watch` while they don't.
  static constexpr auto short_watch = std::chrono::microseconds(100);
  static constexpr auto long_watch = std::chrono::microseconds(800);
  /// The same for the reserve, which is there for threads that are held much longer.
  static constexpr auto long_watch_of_reserve = std::chrono::microseconds(6400);

  /// A queue in a growing ring buffer, first in, first out.
  class ring {
   public:
    bool empty() const noexcept { return begin_ == end_; }
    std::size_t size() const noexcept { return end_ - begin_; }
    /// The number of jobs that were taken until now.
    std::uint64_t taken() const noexcept { return begin_; }
    void push(caf::resumable* job);
    caf::resumable* pop() noexcept { return at(begin_++); }
    /// Takes the first job that `wanted` is true of; null if there is none.
    template <class Wanted>
    bool holds(Wanted wanted) const {
      for (auto number = begin_; number != end_; ++number) {
        if (wanted(jobs_[number & (jobs_.size() - 1)])) return true;
      }
      return false;
    }
    template <class Wanted>
    caf::resumable* take_out(Wanted wanted) {
      for (auto number = begin_; number != end_; ++number) {
        auto* const job = at(number);
        if (!wanted(job)) continue;
        for (; number != begin_; --number) at(number) = at(number - 1);
        ++begin_;
        return job;
      }
      return nullptr;
    }

   private:
    caf::resumable*& at(std::uint64_t number) noexcept {
      return jobs_[number & (jobs_.size() - 1)];
    }

    std::vector<caf::resumable*> jobs_ =
        std::vector<caf::resumable*>(64);  ///< Its size is a power of two.
    std::uint64_t begin_ = 0;
    std::uint64_t end_ = 0;
  };

  bool empty() const noexcept { return jobs_.empty() && urgent_.empty(); }
  std::size_t size() const noexcept { return jobs_.size() + urgent_.size(); }
  std::uint64_t taken() const noexcept { return jobs_.taken() + urgent_.taken(); }
  caf::resumable* pop() noexcept;
  /// Returns the condition to notify for a job that has just been added; null if no thread needs to
  /// be woken.
  std::condition_variable* bell_for(from where) noexcept;
  /// The reserve's bell if it has to begin to look; null if it looks already.
  std::condition_variable* bell_of_reserve() noexcept;
  caf::resumable* rescued(caf::resumable* job) noexcept;
  std::condition_variable* bell_for_urgent(from where) noexcept;
  template <class Which>
  void push_to(ring& jobs, caf::resumable* job, Which which);
  /// Returns the next, longer time to watch, for jobs that were seen to move.
  static std::chrono::microseconds longer(std::chrono::microseconds watch,
                                          std::chrono::microseconds longest) {
    return std::min<std::chrono::microseconds>(2 * watch, longest);
  }
  /// Has an idle thread wait once. Returns true if the thread may take a job.
  bool wait(std::unique_lock<std::mutex>& lock);
  bool keep_watch(std::unique_lock<std::mutex>& lock);

  /// The conditions that idle threads wait for. They are notified after the lock was released, so
  /// that the woken thread need not wait for it. By then the job may have been the last one and
  /// this queue destroyed, so whoever notifies holds the conditions.
  struct bells {
    /// The watching thread has a condition of its own, so that it isn't woken for ordinary jobs.
    std::condition_variable job, watch, reserve;
  };

  mutable std::mutex mutex_;
  const std::shared_ptr<bells> bells_ = std::make_shared<bells>();
  ring jobs_, urgent_;
  std::size_t idle_ = 0;        ///< The number of waiting threads, without the reserve.
  std::size_t asked_ = 0;       ///< The number of idle threads that were woken for a job.
  bool watched_ = false;        ///< True if an idle thread keeps watch.
  bool wanted_ = false;         ///< True if an idle thread was woken to begin the watch.
  bool reserve_rests_ = false;  ///< True if the reserve waits to be woken.
  /// The number of ordinary jobs that were taken when the reserve took one of them; none else.
  std::optional<std::uint64_t> taken_when_rescued_;
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
  bells_->job.notify_one();  // This thread may have been woken for a job, so another one is told.
  bells_->watch.notify_one();
  bells_->reserve.notify_one();
  return nullptr;
}

template <class Ends, class Assured>
caf::resumable* job_queue::take_urgent_unless(Ends ends, Assured assured) {
  std::unique_lock lock(mutex_);
  bool quiet = false;  // True if nothing has come and gone in the last watch.
  for (auto watch = std::chrono::microseconds(short_watch); !ends();) {
    if (jobs_.taken() == taken_when_rescued_) {  // The pool stands still since the last one.
      if (auto* job = jobs_.take_out(assured)) return rescued(job);
    }
    if (quiet && empty()) {
      reserve_rests_ = true;
      bells_->reserve.wait(lock);
      reserve_rests_ = false;
      quiet = false;
      watch = short_watch;
      continue;
    }
    // A thread of the pool may be about to take a job, and has precedence.
    const bool urgent_lies = !urgent_.empty();
    const auto before = taken();
    const auto urgent_before = urgent_.taken();
    const auto ordinary_before = jobs_.taken();
    bells_->reserve.wait_for(lock, watch);
    if (urgent_lies && urgent_.taken() == urgent_before && !urgent_.empty()) return pop();
    const bool stands = watch == long_watch_of_reserve && jobs_.taken() == ordinary_before;
    if (stands) {
      if (auto* job = jobs_.take_out(assured)) return rescued(job);
    }
    quiet = taken() == before;
    watch = longer(watch, long_watch_of_reserve);
  }
  return nullptr;
}

template <class Assured>
job_queue::sight job_queue::look(std::uint64_t taken_before, Assured assured) const {
  std::lock_guard lock(mutex_);
  const bool stands = taken() == taken_before && !empty();
  return {taken(), size(), stands && (!urgent_.empty() || jobs_.holds(assured))};
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
