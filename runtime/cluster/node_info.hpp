#pragma once

#include <cstddef>
#include <string>

namespace troupe {

/// A machine that has joined, or a process on this one.
struct node_info {
  std::string name;
  std::size_t slots = 0;     ///< The number of replicas that it takes.
  std::size_t replicas = 0;  ///< The number of replicas that it has.
};

}  // namespace troupe
