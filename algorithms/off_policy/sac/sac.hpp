#pragma once
// SAC (Haarnoja et al. 2018, https://arxiv.org/abs/1812.05905) as an algorithm for a run. Its roles
// are those of every off-policy algorithm (algorithms/off_policy/off_policy.hpp).

#include "algorithms/off_policy/off_policy.hpp"
#include "algorithms/off_policy/sac/learner.hpp"

namespace troupe {

/// The algorithm SAC with that configuration, for train().
algorithm algorithm_with(const sac_config& config);

}  // namespace troupe
