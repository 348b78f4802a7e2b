#pragma once
// The losses of action values of several agents, once for plain memory with derivatives and once
// for tensors. The learners of IQL, VDN and QMIX use them.

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

namespace troupe {

struct td_loss_metrics {
  double loss = 0.0;
  double q_mean = 0.0;  ///< The mean value of what was done.
};

/// The inputs of the loss of a team for B transitions, in plain memory.
struct team_td_rows {
  int rows = 0;                       ///< B
  const float* q_total = nullptr;     ///< [B] Q_tot of the agents' choices.
  const float* next_total = nullptr;  ///< [B] The target's Q_tot of the next choices.
  const float* reward = nullptr;      ///< [B] The team's reward.
  const float* terminated = nullptr;  ///< [B] 1 if the episode terminated, else 0.
  const float* discount = nullptr;    ///< [B] The discount of the next value.
  const float* weight = nullptr;      ///< [B] The weight of the row's loss; null means 1.
};

/// Computes the mean of weight (Q_tot - y)^2 with y = reward + discount (1 - terminated) next_total
/// (Rashid et al. 2018, https://arxiv.org/abs/1803.11485, equation 6). Writes its derivative by
/// q_total to `d_total` [B] and |Q_tot - y| to `td_error` [B]. q_mean is the mean of Q_tot.
td_loss_metrics team_td_loss(const team_td_rows& in, float* d_total, float* td_error);

/// The inputs of the loss of N agents that learn each by itself, for B transitions, in plain
/// memory.
struct agent_td_rows {
  int rows = 0;                        ///< B
  int agents = 0;                      ///< N
  const int* policy = nullptr;         ///< [N] The policy of each agent, below `policies`.
  int policies = 0;                    ///< The number of policies.
  const std::uint8_t* acts = nullptr;  ///< [B, N] 1 if the agent acts and is trained, else 0.
  const float* q = nullptr;            ///< [B, N] The value of the agent's choice.
  const float* next = nullptr;         ///< [B, N] The target's value of its next choice.
  const float* reward = nullptr;       ///< [B, N]
  const float* terminated = nullptr;   ///< [B, N] 1 if the agent's episode terminated, else 0.
  const float* discount = nullptr;     ///< [B] The discount of the next value.
  const float* weight = nullptr;       ///< [B] The weight of the row's losses; null means 1.
};

/// Computes the sum over policies of the mean of weight (Q - y)^2 over the rows of the policy's
/// agents that act, with y = reward + discount (1 - terminated) next: each policy has the loss that
/// it would have alone (Tan 1993, "Multi-Agent Reinforcement Learning: Independent vs. Cooperative
/// Agents"). Writes its derivative by q to `d_q` [B, N] and the mean of |Q - y| over the
/// acting agents of each row to `td_error` [B]. q_mean is the mean of Q over all that act.
td_loss_metrics agent_td_loss(const agent_td_rows& in, float* d_q, float* td_error);

/// The result of a loss of tensors.
struct td_loss_result {
  at::Tensor loss;      ///< A scalar with gradient.
  at::Tensor q_mean;    ///< A scalar.
  at::Tensor td_error;  ///< [B]
};

/// The inputs of team_td_rows as tensors, all float or all double. Autograd goes through q_total.
struct team_td_inputs {
  at::Tensor q_total, next_total, reward, terminated, discount;
  at::Tensor weight;  ///< undefined: 1
};
/// The loss of team_td_loss as a function of tensors, for autograd.
td_loss_result team_td_loss(const team_td_inputs& in);

/// The inputs of agent_td_rows as tensors, all float or all double. Autograd goes through q.
struct agent_td_inputs {
  std::vector<int> policy;  ///< [N]
  int policies = 0;
  at::Tensor acts;  ///< [B, N] of ones and zeros
  at::Tensor q, next, reward, terminated, discount;
  at::Tensor weight;  ///< undefined: 1
};
/// The loss of agent_td_loss as a function of tensors, for autograd.
td_loss_result agent_td_loss(const agent_td_inputs& in);

}  // namespace troupe
