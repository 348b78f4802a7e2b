#pragma once
// A rate limit for progress messages of long work, such as evaluations and warm starts.

#include <chrono>

namespace troupe {

/// Limits the rate of progress messages: `due` is true at most once every three seconds of wall
/// time, and for the first time three seconds after the construction.
class rate_limited_log {
 public:
  bool due() {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return false;
    next_ = now + every;
    return true;
  }

 private:
  static constexpr std::chrono::seconds every{3};
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now() + every;
};

}  // namespace troupe
