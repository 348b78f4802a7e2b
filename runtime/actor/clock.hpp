#pragma once
// The clocks of an actor system: they tell the time and ring mailboxes at given times. The real
// clock rings from a thread of its own. The virtual clock stands still until somebody advances it.
// Internal to runtime/.

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/actor/inbox.hpp"
#include "runtime/coroutine/strand.hpp"

namespace troupe::detail {

/// The time at which an alarm rings, and the alarm's number. Alarms of the same time ring in the
/// order in which they were set.
using alarm_key = std::pair<time_point, std::uint64_t>;
using alarms = std::map<alarm_key, ref<inbox>, std::less<>,
                        recycling_allocator<std::pair<const alarm_key, ref<inbox>>>>;

class clock {
 public:
  virtual ~clock() = default;
  virtual time_point now() const = 0;
  /// Rings `who` at the time `at` or soon after. Any thread may call it.
  virtual alarm_key wake_at(time_point at, ref<inbox> who) = 0;
  /// Forgets the alarms of an actor that has ended, because an alarm keeps its actor alive until it
  /// rings. Alarms that have rung already are ignored. Any thread may call it.
  virtual void forget(const std::vector<alarm_key>& which) = 0;
  /// Forgets every alarm, and releases the mailboxes.
  virtual void stop() = 0;
};

class real_clock final : public clock {
 public:
  real_clock();
  ~real_clock() override;
  time_point now() const override { return std::chrono::steady_clock::now(); }
  alarm_key wake_at(time_point at, ref<inbox> who) override;
  void forget(const std::vector<alarm_key>& which) override;
  void stop() override;

 private:
  void ring_when_due();

  std::mutex mutex_;
  std::condition_variable changed_;
  alarms alarms_;
  std::uint64_t last_number_ = 0;
  bool stopping_ = false;
  std::thread thread_;
};

/// A clock that starts at the epoch and moves only by `advance_to_next` and `spend`. Only one
/// thread may use it.
class virtual_clock final : public clock {
 public:
  time_point now() const override { return now_; }
  alarm_key wake_at(time_point at, ref<inbox> who) override;
  void forget(const std::vector<alarm_key>& which) override;
  void stop() override { alarms_.clear(); }

  /// Moves to the time of the next alarm and rings every mailbox that is due. Returns false if
  /// there is no alarm.
  bool advance_to_next();
  /// Moves the clock by the time that some work takes, and rings every mailbox that is due.
  void spend(duration time);

 private:
  void ring_all_due();

  time_point now_{};
  alarms alarms_;
  std::uint64_t last_number_ = 0;
};

}  // namespace troupe::detail
