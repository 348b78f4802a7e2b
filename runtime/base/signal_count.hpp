#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace troupe {

/// Which of the signals that ask a program to end counts. `timeout`, and a shell, send one to a
/// process and then to its group, so it arrives twice within milliseconds: that is one signal. Safe
/// in a signal handler.
class signal_count {
 public:
  /// How long after the first a signal is taken for its echo.
  static constexpr std::chrono::milliseconds echo_time{500};

  enum class meaning { first, echo, second };

  /// `now`: of a clock that never goes back; after its epoch.
  meaning note(std::chrono::nanoseconds now) noexcept {
    std::int64_t first = 0;
    if (first_.compare_exchange_strong(first, now.count())) return meaning::first;
    const std::chrono::nanoseconds passed(now.count() - first);
    return passed < echo_time ? meaning::echo : meaning::second;
  }

 private:
  std::atomic<std::int64_t> first_{0};  ///< When it came; 0: none has.
  static_assert(std::atomic<std::int64_t>::is_always_lock_free);
};

}  // namespace troupe
