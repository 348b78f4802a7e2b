#pragma once
// The loss of PPO for plain memory, with derivatives. The fused backend of on-policy learners uses
// it.

#include <cstdint>

#include "algorithms/losses/ppo_loss.hpp"

namespace troupe {

/// The inputs of ppo_loss_with_gradient: ppo_loss_inputs in plain memory, each [rows].
struct ppo_loss_rows {
  int rows = 0;
  const float* log_prob = nullptr;
  const float* entropy = nullptr;
  const float* value = nullptr;
  const float* behaviour_log_prob = nullptr;
  const float* proximal_log_prob = nullptr;  ///< Null means behaviour_log_prob.
  const float* advantage = nullptr;
  const float* returns = nullptr;
  const float* old_value = nullptr;     ///< May be null without clip_range_vf.
  const std::uint8_t* acted = nullptr;  ///< Null means that all rows have an action.
};

/// The outputs of ppo_loss_with_gradient: the derivatives of the loss by these inputs, each [rows].
struct ppo_loss_derivatives {
  float* log_prob = nullptr;
  float* entropy = nullptr;
  float* value = nullptr;
};

/// Computes ppo_loss and its derivatives without autograd, for minibatches so small that an
/// autograd graph costs more than the arithmetic. Values and derivatives equal those of ppo_loss.
/// `rows` must be at least 1.
ppo_loss_metrics ppo_loss_with_gradient(const ppo_loss_rows& in, const ppo_loss_options& options,
                                        const ppo_loss_derivatives& out);

}  // namespace troupe
