#pragma once
// PPO: proximal policy optimisation (Schulman et al. 2017, https://arxiv.org/abs/1707.06347).
//
// The roles, the episode and the order of an update are those of every on-policy algorithm: see
// algorithms/on_policy/on_policy.hpp. What is PPO's own is the clipped loss (learner.hpp), which
// the learner descends in several epochs of minibatches.

#include "algorithms/on_policy/ppo/config.hpp"
#include "algorithms/run/train.hpp"

namespace troupe {

/// PPO with that configuration, for a run.
algorithm algorithm_with(const ppo_config& config);

}  // namespace troupe
