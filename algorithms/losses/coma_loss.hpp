#pragma once
// The advantage of COMA's actors and the loss of its critic (Foerster et al. 2018,
// https://arxiv.org/abs/1705.08926), for rows in plain memory, and the loss also for tensors.

#include <cstdint>

#include <ATen/core/Tensor.h>

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

/// The inputs of coma_critic_loss_with_gradient.
struct coma_critic_rows {
  int rows = 0;
  int actions = 0;                       ///< n
  const float* q = nullptr;              ///< [rows, n] The critic's outputs.
  const std::int64_t* choice = nullptr;  ///< [rows] The action u, 0 to n - 1.
  const float* target = nullptr;         ///< [rows] y, the TD(lambda) target of Q(s, u).
};

/// Returns the mean of (y - Q(s, u))^2 (equation 2), and writes its derivative by `q` to d_q [rows,
/// n].
double coma_critic_loss_with_gradient(const coma_critic_rows& in, float* d_q);

/// The same loss as a function of tensors, for autograd: q [N, n], choice int64 [N], target [N].
at::Tensor coma_critic_loss(const at::Tensor& q, const at::Tensor& choice,
                            const at::Tensor& target);

}  // namespace troupe
