#pragma once
// What time it is, and who wants to be woken when. Real time has a thread of its own; virtual time
// stands still until somebody advances it.

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/actor/inbox.hpp"
#include "runtime/coroutine/strand.hpp"

namespace troupe::detail {

/// When an alarm rings, and its number: of those of one time the first set rings first.
using alarm_key = std::pair<time_point, std::uint64_t>;
using alarms = std::map<alarm_key, ref<inbox>, std::less<>,
                        recycling_allocator<std::pair<const alarm_key, ref<inbox>>>>;

class clock {
 public:
  virtual ~clock() = default;
  virtual time_point now() const = 0;
  /// Rings `who` at `at` or soon after. Any thread.
  virtual alarm_key wake_at(time_point at, ref<inbox> who) = 0;
  /// Forgets alarms, of an actor that has ended: each would keep it until it rings. Those that have
  /// rung may be among them. Any thread.
  virtual void forget(const std::vector<alarm_key>& which) = 0;
  /// Forgets every alarm and its mailbox.
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

/// Time that only `advance_to_next` moves; starts at the epoch. For one thread.
class virtual_clock final : public clock {
 public:
  time_point now() const override { return now_; }
  alarm_key wake_at(time_point at, ref<inbox> who) override;
  void forget(const std::vector<alarm_key>& which) override;
  void stop() override { alarms_.clear(); }

  /// Moves to the next alarm and rings everybody who is due; false if there is none.
  bool advance_to_next();
  /// Time passes while somebody works.
  void spend(duration time);

 private:
  void ring_all_due();

  time_point now_{};
  alarms alarms_;
  std::uint64_t last_number_ = 0;
};

}  // namespace troupe::detail
