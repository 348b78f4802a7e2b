#pragma once

#include <cstdint>

#include "runtime/actor/splitmix.hpp"

namespace troupe::simulation {

/// Numbers of one caller.
class dice {
 public:
  explicit dice(std::uint64_t seed) : state_(seed) {}
  /// From 0 to n - 1.
  int below(int n) {
    return static_cast<int>(detail::next_of(state_) % static_cast<std::uint64_t>(n));
  }
  bool once_in(int n) { return below(n) == 0; }
  /// For somebody else.
  dice fork() { return dice(detail::next_of(state_)); }

 private:
  std::uint64_t state_;
};

}  // namespace troupe::simulation
