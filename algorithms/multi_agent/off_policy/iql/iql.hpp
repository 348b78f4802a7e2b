#pragma once
// IQL: independent Q-learning (Tan 1993, "Multi-Agent Reinforcement Learning: Independent vs.
// Cooperative Agents") with deep networks, as an algorithm for a run.
//
// Roles, episode and update are those of every off-policy algorithm with several agents
// (algorithms/multi_agent/off_policy/joint_q.hpp).

#include "algorithms/multi_agent/off_policy/iql/config.hpp"
#include "algorithms/run/train.hpp"

namespace troupe {

/// The algorithm IQL with that configuration, for train().
algorithm algorithm_with(const iql_config& config);

}  // namespace troupe
