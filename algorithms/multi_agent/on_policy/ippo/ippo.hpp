#pragma once
// IPPO: independent PPO (de Witt et al. 2020, https://arxiv.org/abs/2011.09533).
//
// Roles, episode and update are those of every on-policy algorithm
// (algorithms/on_policy/on_policy.hpp). Each policy learns by PPO from what its
// own agents see.

#include "algorithms/multi_agent/on_policy/ippo/config.hpp"
#include "algorithms/on_policy/learner.hpp"
#include "algorithms/run/train.hpp"

namespace troupe {

/// The learner of one policy of that shape.
on_policy_learner make_learner(const network_shape& shape, const ippo_config& config);

/// The algorithm IPPO with that configuration, for train().
algorithm algorithm_with(const ippo_config& config);

}  // namespace troupe
