#include "runtime/actor/simulated_threads.hpp"

#include <caf/scheduler/test_coordinator.hpp>

#include "runtime/actor/pool_watch.hpp"
#include "runtime/actor/strand_actor.hpp"
#include "runtime/actor/timed_action.hpp"
#include "runtime/base/quiet_thread.hpp"
#include "runtime/base/scarcity.hpp"
#include "runtime/coroutine/sleep.hpp"

namespace troupe::detail {

struct simulated_threads::thread {
  std::thread runs;
  std::condition_variable bell;
  caf::resumable* job = nullptr;
  std::shared_ptr<simulated_pool> pool;  ///< The pool of the turn's actor; may be null.
};

/// Adds jobs at the end of the queue, like CAF's own unit for deterministic systems.
class simulated_threads::unit final : public caf::execution_unit {
 public:
  unit(caf::actor_system& actors, std::deque<caf::resumable*>& jobs)
      : caf::execution_unit(&actors), jobs_(jobs) {}
  void exec_later(caf::resumable* job) override { jobs_.push_back(job); }

 private:
  std::deque<caf::resumable*>& jobs_;
};

namespace {

/// The simulated thread that this thread is; null if it isn't one.
thread_local void* this_thread = nullptr;

std::deque<caf::resumable*>& jobs_of(caf::actor_system& actors) {
  return dynamic_cast<caf::scheduler::test_coordinator&>(actors.scheduler()).jobs;
}

}  // namespace

simulated_threads::simulated_threads(caf::actor_system& actors, virtual_clock& clock)
    : clock_(clock), jobs_(jobs_of(actors)), unit_(std::make_unique<unit>(actors, jobs_)) {}

simulated_threads::~simulated_threads() {
  {
    std::lock_guard lock(mutex_);
    stops_ = true;
  }
  for (const auto& t : threads_) {
    t->bell.notify_one();
    t->runs.join();
  }
}

std::shared_ptr<simulated_pool> simulated_threads::of_new_actor() const {
  if (of_new_) return of_new_;
  auto* maker = strand::current_or_null();
  return maker ? static_cast<strand_actor*>(maker)->pool() : of_others_;
}

bool simulated_threads::step(turn_order& order) {
  order.add_all(jobs_);
  for (auto* job : rested_) order.add(job);
  rested_.clear();
  const auto has_thread = [](caf::resumable* job) {
    const auto* h = dynamic_cast<const strand_actor*>(job);
    return !h || h->is_assured() || !h->pool() || !h->pool()->full();
  };
  auto* const job = order.take([&](caf::resumable* next) {
    return paused_in_.empty() || paused_in_.contains(next) || has_thread(next);
  });
  if (!job) return false;
  const auto paused = paused_in_.find(job);
  if (paused != paused_in_.end()) {
    auto& where = *paused->second;
    paused_in_.erase(paused);
    run_until_pause(where);
    return true;
  }
  const auto* h = dynamic_cast<const strand_actor*>(job);
  if (h && h->may_pause()) {
    run_on_a_thread(job);
  } else {
    run(job);
  }
  return true;
}

void simulated_threads::run_on_a_thread(caf::resumable* job) {
  if (idle_.empty()) {
    threads_.push_back(std::make_unique<thread>());
    auto& t = *threads_.back();
    t.runs = quiet_thread_of_simulation([this, &t] { work(t); });
    idle_.push_back(&t);
  }
  auto& t = *idle_.back();
  idle_.pop_back();
  t.job = job;
  t.pool = dynamic_cast<strand_actor&>(*job).pool();
  run_until_pause(t);
}

void simulated_threads::run_until_pause(thread& which) {
  std::unique_lock lock(mutex_);
  running_ = &which;
  which.bell.notify_one();
  back_.wait(lock, [this] { return !running_; });
}

/// Runs one message of the job.
void simulated_threads::run(caf::resumable* job) {
  switch (job->resume(unit_.get(), 1)) {
    case caf::resumable::resume_later:
      return jobs_.push_front(job);
    case caf::resumable::done:
    case caf::resumable::awaiting_message:
      return caf::intrusive_ptr_release(job);
    case caf::resumable::shutdown_execution_unit:
      return;
  }
}

void simulated_threads::work(thread& mine) {
  this_thread = &mine;
  std::unique_lock lock(mutex_);
  for (;;) {
    mine.bell.wait(lock, [&] { return running_ == &mine || stops_; });
    if (running_ != &mine) return;
    lock.unlock();
    run(mine.job);
    lock.lock();
    idle_.push_back(&mine);
    running_ = nullptr;
    back_.notify_one();
  }
}

bool simulated_threads::hold(duration time) {
  auto* mine = static_cast<thread*>(this_thread);
  if (!mine) return false;
  if (mine->pool) {
    auto& pool = *mine->pool;
    ++pool.held;
    if (pool.full()) {
      pool.full_since = clock_.now();
      look_later(pool, pool_watch::replace_after);
    }
  }
  paused_in_[mine->job] = mine;
  clock_.wake_at(later(clock_.now(), time),
                 ref<inbox>(new timed_action([this, mine] { rested_.push_back(mine->job); })));
  std::unique_lock lock(mutex_);
  running_ = nullptr;
  back_.notify_one();
  mine->bell.wait(lock, [&] { return running_ == mine; });
  if (mine->pool) {
    auto& pool = *mine->pool;
    --pool.held;
    pool.more = std::min(pool.more, pool.held);
  }
  return true;
}

void simulated_threads::hangs(simulated_pool& in) noexcept {
  ++in.stuck;
  add_spare(in);
}

void simulated_threads::came_back(simulated_pool& in) noexcept {
  --in.stuck;
  in.spare = std::min(in.spare, static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, in.stuck)));
}

/// Adds a thread if one is missing, now or at a later look.
void simulated_threads::add_spare(simulated_pool& to) noexcept {
  if (static_cast<std::ptrdiff_t>(to.spare) >= to.stuck) return;
  try {
    check_scarcity();
    ++to.spare;
  } catch (const std::exception&) {
    look_later(to, pool_watch::look_every);
  }
}

void simulated_threads::look_later(simulated_pool& at, duration after) {
  if (std::exchange(at.look_is_due, true)) return;
  clock_.wake_at(later(clock_.now(), after),
                 ref<inbox>(new timed_action([this, pool = at.weak_from_this()] {
                   if (const auto there = pool.lock()) look(*there);
                 })));
}

void simulated_threads::look(simulated_pool& at) {
  at.look_is_due = false;
  add_spare(at);
  if (at.full() && clock_.now() >= later(at.full_since, pool_watch::replace_after)) {
    try {
      check_scarcity();
      ++at.more;
    } catch (const std::exception&) {  // The next look tries again.
    }
  }
  if (at.full()) look_later(at, pool_watch::look_every);
}

}  // namespace troupe::detail
