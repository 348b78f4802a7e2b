#pragma once
// The advantage of COMA's actors, for rows in plain memory, and the loss of its critic, as a
// function of a graph (Foerster et al. 2018, https://arxiv.org/abs/1705.08926).

#include <cstdint>
#include <span>

#include "actors/gradients/graph.hpp"

namespace troupe {

/// The inputs of counterfactual_advantages: rows of one agent with n actions.
struct counterfactual_rows {
  int rows = 0;
  int actions = 0;  ///< n
  /// [rows, n] Q(s, (u_-, u')): the values of each of the agent's actions u', while the others' u_-
  /// stay as they were.
  const float* q = nullptr;
  const float* probability = nullptr;    ///< [rows, n] pi(u' | o) of the agent.
  const std::int64_t* choice = nullptr;  ///< [rows] The agent's action u, 0 to n - 1.
};

/// Writes the advantages [rows] A = Q(s, u) - sum over u' of pi(u' | o) Q(s, (u_-, u')) (equation
/// 4). The sum is the counterfactual baseline.
void counterfactual_advantages(const counterfactual_rows& in, float* advantage);

/// The critic's loss: the mean of (y - Q(s, u))^2 (equation 2), of the critic's outputs q [rows,
/// n], the actions u [rows] and the targets y [rows, 1], which are TD(lambda) targets of Q(s, u).
variable coma_critic_loss(variable q, std::span<const std::int64_t> choice, variable target);

}  // namespace troupe
