#pragma once

#include <chrono>

namespace troupe {

/// For something long that tells how far it is, to people who look on: every few seconds of wall
/// time, and not at all where it is over before.
class now_and_then {
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
