#pragma once
// The network shape of an environment.

#include "actors/environments/environment.hpp"
#include "actors/networks/network.hpp"

namespace troupe {

/// Returns the shape of the network for an environment: its inputs are the flattened observation
/// and its outputs fit the action space. An observation is an image if it is a Box of bytes with
/// two dimensions or more; the last three are [channels, height, width], or [height, width,
/// channels] if the last one is the smallest. Throws std::invalid_argument, which names the
/// environment and its action space, if no network gives such actions: those with a text, and those
/// without numbers.
network_shape shape_of(const env_spec& spec);

}  // namespace troupe
