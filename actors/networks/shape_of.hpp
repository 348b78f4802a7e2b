#pragma once

#include "actors/environments/environment.hpp"
#include "actors/networks/network.hpp"

namespace troupe {

/// The network that fits an environment: its flattened observation in, its action out. Throws
/// std::invalid_argument naming the environment and its action space, if no network here gives such
/// actions (dict, tuple, text, integers that don't start at 0).
network_shape shape_of(const env_spec& spec);

}  // namespace troupe
