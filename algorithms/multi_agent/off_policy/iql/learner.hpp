#pragma once
// IQL's learner. It can be used without a run.

#include "algorithms/multi_agent/off_policy/iql/config.hpp"
#include "algorithms/multi_agent/off_policy/learner.hpp"

namespace troupe {

/// The update rule of independent Q-learning: each policy learns the values of its own agents'
/// actions from what these see and get, as if the others were a part of the environment (Tan 1993,
/// "Multi-Agent Reinforcement Learning: Independent vs. Cooperative Agents"). Policies that are
/// frozen or scripted learn nothing.
class iql_learner : public joint_q_learner {
 public:
  /// The arguments and the errors are those of joint_q_learner.
  iql_learner(const network_shape& shape, const joint_q_options& options, std::uint64_t seed,
              const agents_section& agents);
};

}  // namespace troupe
