#pragma once
// MADDPG (Lowe et al. 2017, https://arxiv.org/abs/1706.02275) and MATD3 (Ackermann et al. 2019,
// https://arxiv.org/abs/1910.01465) as algorithms for a run.
//
// Roles, collections and the order of an update are those of every off-policy algorithm
// (algorithms/off_policy/off_policy.hpp): a transition has the observations, the actions, the
// rewards and the ends of all agents. MADDPG has its own gradient step (learner.hpp).

#include "algorithms/multi_agent/off_policy/maddpg/config.hpp"
#include "algorithms/run/train.hpp"

namespace troupe {

/// The algorithms MADDPG and MATD3 with that configuration, for train().
algorithm algorithm_with(const maddpg_config& config);
algorithm algorithm_with(const matd3_config& config);

}  // namespace troupe
