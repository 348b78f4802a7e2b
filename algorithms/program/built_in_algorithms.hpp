#pragma once
// The algorithms that every program has.

#include <vector>

#include "algorithms/run/named_algorithm.hpp"

namespace troupe {

/// The algorithms that learn on environments: ppo, a2c, reinforce, dqn, sac, td3 and
/// ddpg for one agent, ippo and mappo for several. GRPO for
/// language models is grpo_algorithm (algorithms/language_models/grpo/grpo_algorithm.hpp).
std::vector<named_algorithm> built_in_algorithms();

}  // namespace troupe
