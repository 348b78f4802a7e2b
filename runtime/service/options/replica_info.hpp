#pragma once

#include <cstddef>

namespace troupe {

/// Says which replica a role is made for. A role whose constructor takes a replica_info as its
/// first parameter gets it before the arguments of `serve`, for example to seed a random stream of
/// its own.
struct replica_info {
  std::size_t index = 0;       ///< Below the number of replicas; the same across restarts.
  std::size_t generation = 0;  ///< The number of restarts before this replica, from 0.
};

}  // namespace troupe
