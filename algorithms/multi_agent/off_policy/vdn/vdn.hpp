#pragma once
// VDN: value decomposition networks (Sunehag et al. 2017, https://arxiv.org/abs/1706.05296) as an
// algorithm for a run.
//
// Roles, episode and update are those of every off-policy algorithm with several agents
// (algorithms/multi_agent/off_policy/joint_q.hpp).

#include "algorithms/multi_agent/off_policy/vdn/config.hpp"
#include "algorithms/run/train.hpp"

namespace troupe {

/// The algorithm VDN with that configuration, for train().
algorithm algorithm_with(const vdn_config& config);

}  // namespace troupe
