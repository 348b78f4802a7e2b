#pragma once
// QMIX (Rashid et al. 2018, https://arxiv.org/abs/1803.11485) as an algorithm for a run.
//
// Roles, episode and update are those of every off-policy algorithm with several agents
// (algorithms/multi_agent/off_policy/joint_q.hpp).

#include "algorithms/multi_agent/off_policy/qmix/config.hpp"
#include "algorithms/run/train.hpp"

namespace troupe {

/// The algorithm QMIX with that configuration, for train().
algorithm algorithm_with(const qmix_config& config);

}  // namespace troupe
