#pragma once
#include "algorithms/losses/ppo_loss.hpp"

namespace troupe {

/// ppo_loss_inputs in plain memory, each [rows].
struct ppo_loss_rows {
  int rows = 0;
  const float* log_prob = nullptr;
  const float* entropy = nullptr;
  const float* value = nullptr;
  const float* behaviour_log_prob = nullptr;
  const float* proximal_log_prob = nullptr;  ///< null: the behaviour's
  const float* advantage = nullptr;
  const float* returns = nullptr;
  const float* old_value = nullptr;  ///< may be null without clip_range_vf
};

/// Where the derivatives of the loss go, each [rows].
struct ppo_loss_derivatives {
  float* log_prob = nullptr;
  float* entropy = nullptr;
  float* value = nullptr;
};

/// ppo_loss with its gradient worked out by hand, for minibatches so small that an autograd graph
/// costs more than the arithmetic. Same values, same derivatives; rows >= 1.
ppo_loss_metrics ppo_loss_with_gradient(const ppo_loss_rows& in, const ppo_loss_options& options,
                                        const ppo_loss_derivatives& out);

}  // namespace troupe
