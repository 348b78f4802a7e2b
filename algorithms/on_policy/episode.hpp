#pragma once
// The roles and the episode function of on-policy algorithms.

#include <cstdint>
#include <memory>
#include <vector>

#include "actors/environments/hosted_environment.hpp"
#include "actors/networks/joint_shape.hpp"
#include "actors/policy/policy.hpp"
#include "actors/replay/replay_queue.hpp"
#include "algorithms/on_policy/rollout_normalizer.hpp"
#include "algorithms/on_policy/rollout_writer.hpp"

namespace troupe {

/// The services and options of generate_rollout.
struct rollout_roles {
  service<hosted_environment> environments;
  std::vector<service<policy>> policies;  ///< One service for each policy, in their order.
  service<replay_queue<rollout>> replay;
  std::shared_ptr<const agent_rows> rows;  ///< The rows of each policy in those of environments.
  std::int64_t n_steps = 2048;             ///< T, the number of steps of each environment.
  std::size_t groups = 1;      ///< The number of environment replicas that one rollout uses.
  bool deterministic = false;  ///< If true, the policy takes the likeliest action.
  int sde_sample_freq = -1;  ///< Steps between draws of exploration noise; -1 means one a rollout.
  /// Normalises observations and rewards. Null means they are not normalised here.
  std::shared_ptr<run_normalizer> normalizer = nullptr;
  rollout_writer_options writing = {};  ///< What rollouts of several agents have.
};

/// The episode function of on-policy algorithms, for every loop. It makes T steps on one replica of
/// the environments, which no other rollout uses meanwhile, with the weights that the policies have
/// at each step. Before each step all policies are asked at once for the actions of the agents that
/// they play; a single agent has one policy. If the replica dies, the rollout goes on with another
/// replica and loses only the episodes under way.
///
/// With several groups, each group is a replica, and one group's environments step while the policy
/// acts for another group. The policy acts for the groups in the order of their replicas. If they
/// are seeded alike, the result equals that of as many environments in one replica, except with
/// normalised observations: a group's are normalised before the groups after it have stepped.
task<rollout> generate_rollout(rollout_roles roles);

}  // namespace troupe
