#pragma once

#include <chrono>
#include <thread>

namespace troupe::testing {

/// Waits for what another thread or process does and doesn't tell: until `holds()` is true, for at
/// most `limit`. Returns whether it is.
template <class Condition>
bool eventually(Condition holds, std::chrono::milliseconds limit = std::chrono::seconds(20)) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

}  // namespace troupe::testing
