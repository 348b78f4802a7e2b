#pragma once
// SAC (Haarnoja et al. 2018,
// https://arxiv.org/abs/1812.05905); see off_policy/off_policy.hpp for who
// is in it.

#include "algorithms/off_policy/off_policy.hpp"
#include "algorithms/off_policy/sac/learner.hpp"

namespace troupe {

/// For train_in and train.
algorithm algorithm_with(const sac_config& config);

}  // namespace troupe
