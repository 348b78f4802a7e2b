#pragma once
// The numbers that an action of a space consists of.

#include <cstdint>
#include <vector>

#include "actors/environments/space.hpp"

namespace troupe {

/// The numbers of one action, in the order in which env_actions has them. A tuple or a dict has the
/// numbers of its parts one after another, each kind for itself: Tuple(Discrete(3), Box(2),
/// MultiBinary(2)) has the integers [choice, bit, bit] and the floats [2].
struct action_numbers {
  /// An integer from `first` on, one of `count` values.
  struct integer {
    std::int64_t first = 0;
    std::int64_t count = 0;
    bool binary = false;  ///< It is an element of a MultiBinary.
  };
  std::vector<integer> integers;  ///< [P]
  std::vector<float> low, high;   ///< [A] the bounds of the floats
};

/// Returns the numbers of an action of that space. Throws std::invalid_argument, which names the
/// space, if it has a text.
action_numbers numbers_of(const space& actions);

}  // namespace troupe
