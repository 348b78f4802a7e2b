#pragma once

#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>

#include "runtime/coroutine/sleep.hpp"

namespace troupe::testing {

/// Waits, as a coroutine, for what nothing tells it: until `holds()` is true. Throws
/// std::runtime_error with the name of the thing after 60 s of real time.
inline task<> wait_until(std::string name, std::function<bool()> holds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end)
      throw std::runtime_error("waited for 60 s: " + name);
    co_await sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace troupe::testing
