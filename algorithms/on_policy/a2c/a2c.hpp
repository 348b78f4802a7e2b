#pragma once
// A2C: advantage actor-critic (Mnih et al. 2016, https://arxiv.org/abs/1602.01783, synchronous).
//
// It is PPO's first gradient step: at the weights that acted the ratio of probabilities is 1, so
// the clipped surrogate's gradient is the policy gradient's (Huang et al. 2022,
// https://arxiv.org/abs/2205.09123). So A2C is PPO's roles and learner, with one epoch, the whole
// batch at once, nothing clipped and its own defaults. In async mode stale rollouts are corrected
// as PPO's are.

#include "algorithms/on_policy/a2c/config.hpp"
#include "algorithms/run/train.hpp"

namespace troupe {

/// A2C with that configuration, for a run.
algorithm algorithm_with(const a2c_config& config);

}  // namespace troupe
