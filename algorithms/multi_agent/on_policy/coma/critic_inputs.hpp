#pragma once
// What COMA's central critics see.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "actors/gradients/joint_encoder.hpp"
#include "algorithms/on_policy/rollout.hpp"

namespace troupe {

/// The rows of critic_inputs for the steps of one policy, T steps of C columns. I is the width of a
/// row; the columns of several rollouts are side by side, as in to_batch.
struct critic_rows {
  std::vector<float> steps;      ///< [T, C, I] of each step
  std::vector<float> finals;     ///< [F, I] of final_obs
  std::vector<float> bootstrap;  ///< [C, I] of bootstrap_obs
  /// [F] and [C] The agent's action in the last two; it is 0 where the agent does not act.
  std::vector<std::int64_t> final_choice, bootstrap_choice;
};

/// Makes the rows that central critics see: [the policy's row for the agent, the actions of all
/// agents in the same step]. The policy's row has the agent's observation, its number, its action
/// mask and what only critics see: the global state or all observations. An action is one-hot, in
/// the order of the environment's agents. The block of the agent itself is 0, because the critic
/// gives a value for each of its actions, and so are the blocks of agents that do not act in the
/// step.
class critic_inputs {
 public:
  /// Throws std::invalid_argument if an agent of `shape` has other actions than one Discrete.
  explicit critic_inputs(const network_shape& shape);

  /// The width I of a policy's rows.
  int width(std::size_t policy) const;
  /// The observations in a policy's rows, and the global state.
  const std::vector<encoded_part>& parts(std::size_t policy) const { return parts_[policy]; }
  /// Makes the rows of a policy. Throws std::invalid_argument if a rollout lacks
  /// policy_rollout::acting.
  critic_rows rows_of(const std::vector<rollout>& rollouts, std::size_t policy) const;

 private:
  class action_table;
  void write(std::size_t policy, std::size_t agent, const float* row, const std::int64_t* acted,
             float* to) const;

  std::vector<std::size_t> obs_sizes_;             // of each policy's rows
  std::vector<std::vector<encoded_part>> parts_;   // of each policy's rows
  std::vector<std::vector<std::size_t>> members_;  // the agents of each policy
  std::vector<std::size_t> first_, counts_;        // of each agent's actions in a row's blocks
  std::size_t all_actions_ = 0;                    // the sum of the agents' numbers of actions
};

}  // namespace troupe
