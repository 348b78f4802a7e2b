#pragma once
// The minibatch that off-policy learners train on.

#include <cstdint>
#include <vector>

#include "actors/networks/network.hpp"

namespace troupe {

/// The transitions of one gradient step, drawn from a replay. B is the number of rows, D the number
/// of floats in an observation, A that in an action, N the number of agents if there are several.
/// The memory is reused for each step.
///
/// A transition of n steps has the discounted sum of its n rewards, the observation after them, and
/// the discount gamma^n.
struct transition_batch {
  int rows = 0;
  std::vector<float> obs;            ///< [B, D]
  std::vector<float> action;         ///< [B, A], scaled to -1..1; continuous actions only
  std::vector<std::int64_t> choice;  ///< [B], 0 to n - 1; discrete actions only; of agents [B, N]
  std::vector<float> reward;         ///< [B]
  std::vector<float> next_obs;       ///< [B, D]; an episode's last observation if it ended
  /// [B], 1 if the episode terminated, else 0. A truncated episode is not terminated, because its
  /// last observation has a value.
  std::vector<float> terminated;
  std::vector<float> discount;  ///< [B], gamma^n
  // Empty for a single agent.
  std::vector<float> agent_reward;      ///< [B, N], what each agent is trained on
  std::vector<float> agent_terminated;  ///< [B, N], 1 if the agent's episode terminated, else 0
  std::vector<float> weight;  ///< [B], importance weights of a prioritised draw; empty means 1

  /// Resizes all columns to `rows` transitions; importance weights are left empty.
  void resize(int rows, const network_shape& shape);
};

/// Random transitions of any shape, a quarter of them the last of their episodes, for the check of
/// a rule.
transition_batch random_batch(const network_shape& shape, int rows, std::uint64_t seed);

/// Throws std::invalid_argument that names the column if its size does not fit, or the choice if it
/// is out of range.
void check(const transition_batch& batch, const network_shape& shape);

}  // namespace troupe
