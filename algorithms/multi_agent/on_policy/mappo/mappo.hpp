#pragma once
// MAPPO: multi-agent PPO with a central critic (Yu et al. 2022, https://arxiv.org/abs/2103.01955).
//
// Roles, episode and update are those of every on-policy algorithm
// (algorithms/on_policy/on_policy.hpp). The critic of each policy sees the global
// state behind an agent's own observation; the actor does not.

#include "algorithms/multi_agent/on_policy/mappo/config.hpp"
#include "algorithms/on_policy/learner.hpp"
#include "algorithms/run/train.hpp"

namespace troupe {

/// The learner of one policy of that shape.
on_policy_learner make_learner(const network_shape& shape, const mappo_config& config);

/// The algorithm MAPPO with that configuration, for train().
algorithm algorithm_with(const mappo_config& config);

}  // namespace troupe
