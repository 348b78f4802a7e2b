#pragma once
// A message about observations that make every step slow.

#include "actors/networks/network.hpp"
#include "algorithms/run/config.hpp"

namespace troupe {

/// If the observation is an image with more than twice as many numbers as four pictures of 84x84,
/// logs its size, how long the network takes for one action, and how to make it smaller.
void tell_large_images(const env_section& env, const env_spec& spec, const network_shape& shape,
                       const network_options& network);

}  // namespace troupe
