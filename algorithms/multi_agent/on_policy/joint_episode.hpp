#pragma once
// The roles and the episode function of on-policy algorithms with several agents.

#include <cstdint>
#include <memory>
#include <vector>

#include "actors/environments/hosted_environment.hpp"
#include "actors/networks/joint_shape.hpp"
#include "actors/policy/policy.hpp"
#include "actors/replay/replay_queue.hpp"
#include "algorithms/multi_agent/on_policy/joint_rollout.hpp"

namespace troupe {

/// The services and options of generate_joint_rollout.
struct joint_rollout_roles {
  service<hosted_environment> environments;
  std::vector<service<policy>> policies;  ///< One service for each policy, in their order.
  service<replay_queue<joint_rollout>> replay;
  std::int64_t n_steps = 2048;  ///< T, the number of steps of each environment.
  bool deterministic = false;   ///< If true, the policies take the likeliest actions.
  std::shared_ptr<const agent_rows> rows = nullptr;
  network_shape shape = {};  ///< The shape of the environment's rows, with its policies.
  reward_sharing sharing = {};
  bool joint_actions = false;  ///< If true, rollouts have joint_rollout::acting.
  bool limits_end = false;     ///< If true, agents that are cut off have terminated.
};

/// The episode function of on-policy algorithms with several agents, for every loop. It makes T
/// steps on one replica of the environments. Before each step it asks all policies at once for the
/// actions of the agents that they play. If the replica dies, the rollout goes on with another
/// replica and loses only the episodes under way.
task<joint_rollout> generate_joint_rollout(joint_rollout_roles roles);

}  // namespace troupe
