#pragma once
// Tells a repeated signal from an echo, for the handler of SIGINT and SIGTERM.

#include <atomic>
#include <chrono>
#include <cstdint>

namespace troupe {

/// Counts the signals that ask a program to end. `timeout` and shells send a signal to a process
/// and then to its group, so it arrives twice within milliseconds; the second one is an echo and
/// doesn't count. It may be used in a signal handler.
class signal_count {
 public:
  /// The time after the first signal within which another one is taken for its echo.
  static constexpr std::chrono::milliseconds echo_time{500};

  enum class meaning { first, echo, second };

  /// Records a signal and returns its meaning. `now` is the time of a monotonic clock, above 0.
  meaning note(std::chrono::nanoseconds now) noexcept {
    std::int64_t first = 0;
    if (first_.compare_exchange_strong(first, now.count())) return meaning::first;
    const std::chrono::nanoseconds passed(now.count() - first);
    return passed < echo_time ? meaning::echo : meaning::second;
  }

 private:
  std::atomic<std::int64_t> first_{0};  ///< The time of the first signal; 0 if there was none.
  static_assert(std::atomic<std::int64_t>::is_always_lock_free);
};

}  // namespace troupe
