#include "runtime/actor/pool_watch.hpp"

#include <algorithm>

#include "runtime/actor/strand_actor.hpp"
#include "runtime/actor/ticks.hpp"
#include "runtime/actor/timed_action.hpp"
#include "runtime/base/log.hpp"
#include "runtime/coroutine/sleep.hpp"

namespace troupe::detail {

pool_watch::pool_watch(class clock& clock, thread_pool& pool, spare_threads& spares,
                       duration long_turn)
    : clock_(clock),
      pool_(pool),
      spares_(spares),
      long_turn_(long_turn),
      pooled_(pool.num_workers()) {}

void pool_watch::begin(std::function<void()> looked) {
  {
    std::lock_guard lock(mutex_);
    looked_ = std::move(looked);
  }
  findings_->threads = pooled_.size();
  findings_->looked = ticks_of(clock_.now());
  look_later();
}

void pool_watch::end() {
  std::lock_guard lock(mutex_);
  looked_ = nullptr;
}

void pool_watch::look_later() {
  const auto look = [me = weak_from_this()] {
    if (const auto here = me.lock()) here->look();
  };
  clock_.wake_at(later(clock_.now(), look_every), ref<inbox>(new timed_action(look)));
}

void pool_watch::look() {
  look_later();
  const auto now = clock_.now();
  const auto turns = present_turns(now);
  const auto longer_than = [&](duration limit) {
    return static_cast<std::size_t>(
        std::count_if(turns.begin(), turns.end(), [&](duration d) { return d >= limit; }));
  };
  const auto jobs = pool_.data().jobs.look(taken_, is_assured);
  taken_ = jobs.taken;
  const auto held = longer_than(replace_after);
  const bool stands = held == turns.size() && jobs.waiting > 0;
  const bool enough = spares_.replace(held, stands);
  if (!enough && std::exchange(enough_, false)) {
    log::error(
        "the pool needs one more thread and can't have it",
        {{"threads", turns.size()}, {"in_long_turns", held}, {"jobs_waiting", jobs.waiting}});
  }
  enough_ = enough;
  if (!jobs.assured_waiting) {
    findings_->stalled_since = 0;
  } else if (findings_->stalled_since == 0) {
    findings_->stalled_since = ticks_of(now);
  }
  findings_->threads = turns.size();
  findings_->in_long_turns = longer_than(long_turn_);
  findings_->looked = ticks_of(now);
  std::lock_guard lock(mutex_);
  if (looked_) looked_();
}

/// The time for which each thread was seen in its present turn.
std::vector<duration> pool_watch::present_turns(time_point now) {
  std::vector<duration> turns;
  for (std::size_t i = 0; i < pooled_.size(); ++i) {
    turns.push_back(pooled_[i].look(pool_.worker_by_id(i)->data().turns, now));
  }
  spares_.look(now, turns);
  return turns;
}

}  // namespace troupe::detail
