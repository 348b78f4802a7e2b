#pragma once
// A2C: advantage actor-critic (Mnih et al. 2016, https://arxiv.org/abs/1602.01783, synchronous).
//
// A2C's update equals PPO's first gradient step: at the weights that acted the probability ratio is
// 1, so the gradient of the clipped surrogate is the policy gradient (Huang et al. 2022,
// https://arxiv.org/abs/2205.09123). A2C therefore uses PPO's roles and learner with one epoch, the
// whole batch at once, no clipping and its own defaults. In async mode stale rollouts are corrected
// as in PPO.

#include "algorithms/on_policy/a2c/config.hpp"
#include "algorithms/run/train.hpp"

namespace troupe {

/// The algorithm A2C with that configuration, for train().
algorithm algorithm_with(const a2c_config& config);

}  // namespace troupe
