#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runtime/coroutine/sleep.hpp"

namespace troupe::chaos {

/// One SIGKILL.
struct kill_record {
  std::string victim;  ///< "environments/1", or a node's name.
  std::int64_t pid = 0;
  duration at{0};                   ///< Since the start.
  std::string held;                 ///< What it took along: "3 calls", "8 replicas".
  time_point killed;                ///< Just before kill().
  std::optional<duration> noticed;  ///< From then until the loss was known.
  std::optional<duration> back;     ///< Until what was lost serves again.
};

struct killer_options {
  duration length, every;
  std::uint64_t seed = 1;
};

}  // namespace troupe::chaos
