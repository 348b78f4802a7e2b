#pragma once
// DQN (Mnih et al. 2015, https://doi.org/10.1038/nature14236) as an algorithm for a run. Its roles
// are those of every off-policy algorithm (algorithms/off_policy/off_policy.hpp).

#include "algorithms/off_policy/dqn/learner.hpp"
#include "algorithms/off_policy/off_policy.hpp"

namespace troupe {

/// The algorithm DQN with that configuration, for train().
algorithm algorithm_with(const dqn_config& config);

}  // namespace troupe
