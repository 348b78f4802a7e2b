#pragma once
// Steps of a multi-agent environment through a service.
//
//   spread_steps_per_cpu_s       steps of simple_spread_v3 with 3 agents in a CPU second of this
//                                process: 256 worlds in one replica of hosted_environment, which
//                                are stepped by one call; a step is one of a world, with the
//                                actions and observations of all its agents
//   mpe2_spread_steps_per_cpu_s  the same of the Python package mpe2, one world
//
// Both are medians of rounds. The actions are drawn at random beforehand; resets are included.

#include <nlohmann/json_fwd.hpp>

namespace troupe {

/// Measures and prints, and adds the figures. That of mpe2 needs python3-venv and a Python package
/// index, and is left out without them.
void measure_spread(nlohmann::json& figures);

}  // namespace troupe
