#pragma once
// The network shape of an environment.

#include "actors/environments/environment.hpp"
#include "actors/networks/network.hpp"

namespace troupe {

/// Returns the shape of the network for an environment: its inputs are the flattened observation
/// and its outputs fit the action space. Throws std::invalid_argument, which names the environment
/// and its action space, if no network gives such actions (dict, tuple, text, integers that don't
/// start at 0).
network_shape shape_of(const env_spec& spec);

}  // namespace troupe
