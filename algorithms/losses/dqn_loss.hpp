#pragma once
// The loss of DQN, once for plain memory with derivatives and once for tensors. DQN's learner uses
// it.

#include <cstdint>

#include <ATen/core/Tensor.h>

namespace troupe {

/// The inputs of DQN's loss for B transitions and n actions, in plain memory. `q`, `next_target`
/// and `next_online` are outputs of a network: action values [B, n], or with `dueling` a state
/// value and advantages [B, 1 + n], Q = V + A - mean A (Wang et al. 2016, equation 9).
struct dqn_rows {
  int rows = 0;     ///< B
  int actions = 0;  ///< n
  bool dueling = false;
  const float* q = nullptr;            ///< The online network's outputs for the observations.
  const float* next_target = nullptr;  ///< The target network's outputs for the next observations.
  /// The online network's outputs for the next observations, which choose the next action (double
  /// DQN). Null means the target network chooses it.
  const float* next_online = nullptr;
  const std::int64_t* choice = nullptr;  ///< [B] The action taken, 0 to n - 1.
  const float* reward = nullptr;         ///< [B]
  const float* terminated = nullptr;     ///< [B] 1 if the episode terminated, else 0.
  const float* discount = nullptr;       ///< [B] The discount of the next value.
  const float* weight = nullptr;         ///< [B] The weight of the row's loss; null means 1.
};

struct dqn_loss_metrics {
  double loss = 0.0;    ///< The mean of weight * Huber(Q(s, a) - target).
  double q_mean = 0.0;  ///< The mean of Q(s, a).
};

/// Computes the loss of deep Q-learning. Writes its derivative by `q`, of q's shape, to `d_q` and
/// |Q(s, a) - target| [B] to `td_error`. The target is reward + discount (1 - terminated)
/// max Q'(s', .), or with `next_online` Q' of the online network's choice (van Hasselt et al. 2016,
/// equation 4). The loss is Huber's with delta 1, as in Stable-Baselines3.
dqn_loss_metrics dqn_loss_with_gradient(const dqn_rows& in, float* d_q, float* td_error);

/// The inputs of dqn_loss as tensors, all float or all double. Autograd goes through `q`.
struct dqn_loss_inputs {
  at::Tensor q;            ///< [B, n]
  at::Tensor next_target;  ///< [B, n]
  at::Tensor next_online;  ///< [B, n]; undefined: the target network chooses the next action
  at::Tensor choice;       ///< int64 [B]
  at::Tensor reward;       ///< [B]
  at::Tensor terminated;   ///< [B]
  at::Tensor discount;     ///< [B]
  at::Tensor weight;       ///< [B]; undefined: 1
};
struct dqn_loss_result {
  at::Tensor loss;         ///< A scalar with gradient.
  at::Tensor q_of_choice;  ///< [B] Q(s, a)
  at::Tensor td_error;     ///< [B] |Q(s, a) - target|
};
/// The loss of dqn_loss_with_gradient as a function of tensors, for autograd.
dqn_loss_result dqn_loss(const dqn_loss_inputs& in);

/// The action values Q = V + A - mean A [B, n] from a dueling network's outputs [B, 1 + n].
at::Tensor dueling_values(const at::Tensor& outputs);

}  // namespace troupe
