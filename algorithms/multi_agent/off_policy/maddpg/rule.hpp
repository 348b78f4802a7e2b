#pragma once
// The update rule of MADDPG and MATD3.

#include <cstddef>
#include <span>
#include <vector>

#include "actors/gradients/graph.hpp"
#include "algorithms/multi_agent/off_policy/maddpg/networks.hpp"
#include "algorithms/off_policy/critic_fit.hpp"
#include "algorithms/off_policy/transition_batch.hpp"

namespace troupe {

/// What the agents of one policy learn from: a row for each transition and each agent of the policy
/// that acts in it, R rows.
struct maddpg_rows {
  /// obs and next_obs are what critics see, x and i [R, X + ids]; action has the actions a of all
  /// agents as critics see them [R, A]; reward is the agent's own; terminated is 1 if it has ended.
  transition_batch batch;
  std::vector<float> next_action;  ///< [R, A] The actions a' of the target actors.
  std::vector<float> inputs;       ///< [R, I] What the agent's actor sees, o_i.
  std::vector<std::size_t> row;    ///< [R] The transition's row in the batch of all agents.
  std::vector<std::size_t> agent;  ///< [R]
};

/// The actions of a policy's target actor, clip(mu'(o') + noise) [rows, actions], of `inputs` o'
/// [rows, I] with clipped noise [rows, actions].
variable maddpg_target_actions(graph& g, const maddpg_networks::one& of,
                               const parameter_block& target_actor, std::span<const float> inputs,
                               std::span<const float> noise);

/// The loss of a policy's critics, the sum over k of the mean of (Q_k(x, i, a) - y)^2 with
/// y = r_i + discount (1 - end_i) min_k Q'_k(x', i, a').
critic_fit maddpg_critic_loss(graph& g, const maddpg_networks& networks, std::size_t policy,
                              const parameter_block& critic_parameters, const maddpg_rows& rows);

/// The loss of a policy's actor, the mean of -Q_1(x, i, a with mu(o_i) in place of a_i).
variable maddpg_actor_loss(graph& g, const maddpg_networks& networks, std::size_t policy,
                           const parameter_block& actor_parameters, const maddpg_rows& rows);

}  // namespace troupe
