#pragma once
// The integers that a network chooses, as an environment's action has them.

#include <cstdint>
#include <span>
#include <vector>

#include "actors/environments/space.hpp"

namespace troupe {

/// Converts the integers of a network's actions, which are choices from 0 on in the order of
/// network_shape::choices, into those of an environment's action space, which have the order of
/// action_numbers and may start at another number. A default-constructed map leaves them as they
/// are.
class choice_map {
 public:
  choice_map() = default;
  /// Throws std::invalid_argument, which names the space, if it has a text.
  explicit choice_map(const space& actions);

  /// Converts whole rows [N, P] in place.
  void to_environment(std::span<std::int64_t> rows) const;

 private:
  struct integer {
    std::size_t choice;  // the index of the network's choice
    std::int64_t first;  // the number of its first option
  };
  std::vector<integer> integers_;  // [P] in the environment's order; empty if nothing changes
};

}  // namespace troupe
