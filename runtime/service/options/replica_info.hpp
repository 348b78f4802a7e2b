#pragma once

#include <cstddef>

namespace troupe {

/// Which replica a role is made for. A role whose constructor takes one first is given it, before
/// the arguments of `serve`: to draw from a random stream of its own, say.
struct replica_info {
  std::size_t index = 0;       ///< Below the number of replicas; kept across restarts.
  std::size_t generation = 0;  ///< 0, then one more with each restart.
};

}  // namespace troupe
