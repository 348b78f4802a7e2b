#pragma once
// Tells long turns from many short ones. Internal to runtime/.

#include <atomic>
#include <cstdint>

#include "runtime/coroutine/strand.hpp"

namespace troupe::detail {

/// Counts the turns of one thread or of one actor. Only one thread at a time writes it, which costs
/// two plain stores a turn. Any thread may read it.
class turn_count {
 public:
  turn_count() = default;
  turn_count(const turn_count&) noexcept {}  // CAF copies what its threads hold before they run.
  turn_count& operator=(const turn_count&) = delete;

  void begin() noexcept { add_one(); }
  void end() noexcept { add_one(); }
  /// A number that changes with each turn's begin and end. It is odd during a turn.
  std::uint64_t value() const noexcept { return value_.load(std::memory_order_relaxed); }
  bool is_in_turn() const noexcept { return value() % 2 == 1; }

 private:
  void add_one() noexcept {
    value_.store(value_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  std::atomic<std::uint64_t> value_{0};
};

/// What somebody remembers who looks at a `turn_count` from time to time.
class turn_sighting {
 public:
  /// Looks at it. Returns the time since which the present turn was seen; 0 between turns, and when
  /// a turn is seen for the first time.
  duration look(const turn_count& at, time_point now) noexcept {
    const auto value = at.value();
    const bool in_turn = value % 2 == 1;
    if (!in_turn || value != seen_) {
      seen_ = value;
      since_ = now;
      return duration(0);
    }
    return now - since_;
  }

 private:
  std::uint64_t seen_ = 0;
  time_point since_{};
};

}  // namespace troupe::detail
