#pragma once
// What a run tells at its start and in its first episodes, where a user may not expect it.
// `tell_capacity` in algorithms/off_policy/roles.cpp tells what the replay holds.

#include "actors/networks/network.hpp"
#include "algorithms/run/config.hpp"
#include "algorithms/run/settings.hpp"

namespace troupe {

/// Logs which observations with the shape of images the network takes for none.
void tell_no_images(const run_settings& of, const env_spec& spec);

/// Warns of each option of the run that has no effect.
void tell_idle_options(const run_settings& of);

/// Logs what the sizes of a new run mean: more steps than were asked for, and replicas that are not
/// used.
void tell_sizes(const run_settings& of);

/// If the observation is an image with more than twice as many numbers as four pictures of 84x84,
/// logs its size, how long the network takes for one action, and how to make it smaller.
void tell_large_images(const env_section& env, const env_spec& spec, const network_shape& shape,
                       const network_options& network);

/// Warns that the first episodes have all had this return, unless it is what solves the
/// environment.
void tell_equal_returns(const env_spec& spec, double every_return);

}  // namespace troupe
