#pragma once
// COMA: counterfactual multi-agent policy gradients (Foerster et al. 2018,
// https://arxiv.org/abs/1705.08926).
//
// Roles, episode and update are those of every on-policy algorithm
// (algorithms/on_policy/on_policy.hpp). Policies act by their actors alone. A
// central critic of each policy is in the trainer: it sees the global state and what all other
// agents do, and gives the value of each action of one agent. That agent's advantage is the value
// of its action less the mean value over its policy (learner.hpp).

#include "algorithms/multi_agent/on_policy/coma/config.hpp"
#include "algorithms/run/train.hpp"

namespace troupe {

/// The algorithm COMA with that configuration, for train().
algorithm algorithm_with(const coma_config& config);

}  // namespace troupe
