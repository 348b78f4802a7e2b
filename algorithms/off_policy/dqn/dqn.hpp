#pragma once
// DQN (Mnih et al. 2015, https://doi.org/10.1038/nature14236); see
// off_policy/off_policy.hpp for who is in it.

#include "algorithms/off_policy/dqn/learner.hpp"
#include "algorithms/off_policy/off_policy.hpp"

namespace troupe {

/// For train_in and train.
algorithm algorithm_with(const dqn_config& config);

}  // namespace troupe
