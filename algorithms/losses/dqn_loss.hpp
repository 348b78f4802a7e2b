#pragma once
#include <cstdint>

#include <ATen/core/Tensor.h>

namespace troupe {

/// What the update of Q-learning needs of B transitions and n actions, in plain memory. `q` and
/// `next` are outputs of the network: [B, n] action values, or with `dueling` [B, 1 + n] a state
/// value and advantages, Q = V + A - mean A (Wang et al. 2016, equation 9).
struct dqn_rows {
  int rows = 0;
  int actions = 0;
  bool dueling = false;
  const float* q = nullptr;              ///< of the observations, by the online network
  const float* next_target = nullptr;    ///< of the next ones, by the target network
  const float* next_online = nullptr;    ///< by the online one; null: the target network chooses
  const std::int64_t* choice = nullptr;  ///< [B]
  const float* reward = nullptr;         ///< [B]
  const float* terminated = nullptr;     ///< [B], 0 or 1
  const float* discount = nullptr;       ///< [B]
  const float* weight = nullptr;         ///< [B]; null: 1
};

struct dqn_loss_metrics {
  double loss = 0.0;    ///< mean of weight * Huber(Q(s, a) - target)
  double q_mean = 0.0;  ///< mean Q(s, a)
};

/// The loss of deep Q-learning with its derivative by `q`, as wide as q, and |Q(s, a) - target|
/// [B]. Target: reward + discount (1 - terminated) max Q'(s', .), or Q' of the online network's
/// choice (van Hasselt et al. 2016, equation 4). Huber's loss with delta 1, as
/// Stable-Baselines3's.
dqn_loss_metrics dqn_loss_with_gradient(const dqn_rows& in, float* d_q, float* td_error);

/// The same of tensors, with autograd through `q`. All float or all double.
struct dqn_loss_inputs {
  at::Tensor q;            ///< [B, n]
  at::Tensor next_target;  ///< [B, n]
  at::Tensor next_online;  ///< [B, n] or undefined
  at::Tensor choice;       ///< int64 [B]
  at::Tensor reward;
  at::Tensor terminated;
  at::Tensor discount;
  at::Tensor weight;  ///< [B] or undefined
};
struct dqn_loss_result {
  at::Tensor loss;         ///< scalar with gradient
  at::Tensor q_of_choice;  ///< [B]
  at::Tensor td_error;     ///< [B], absolute
};
dqn_loss_result dqn_loss(const dqn_loss_inputs& in);

/// Q = V + A - mean A of the network's outputs [B, 1 + n].
at::Tensor dueling_values(const at::Tensor& outputs);

}  // namespace troupe
