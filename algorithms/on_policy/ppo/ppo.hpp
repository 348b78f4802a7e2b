#pragma once
// PPO: proximal policy optimisation (Schulman et al. 2017, https://arxiv.org/abs/1707.06347).
//
// Roles, episode and update are those of every on-policy algorithm
// (algorithms/on_policy/on_policy.hpp). PPO has its own clipped loss (learner.hpp), which the
// learner minimises in several epochs of minibatches.

#include "algorithms/on_policy/ppo/config.hpp"
#include "algorithms/run/train.hpp"

namespace troupe {

/// The algorithm PPO with that configuration, for train().
algorithm algorithm_with(const ppo_config& config);

}  // namespace troupe
