#pragma once
// Generalised advantage estimation, which on-policy algorithms use for advantages and returns.

#include <ATen/core/Tensor.h>

namespace troupe {

/// The inputs of gae for T steps of B environments.
struct gae_inputs {
  at::Tensor reward;           ///< [T, B]
  at::Tensor value;            ///< [T, B] V(s_t)
  at::Tensor terminated;       ///< [T, B] bool: the episode ended with this step
  at::Tensor truncated;        ///< [T, B] bool: the episode was cut after this step
  at::Tensor final_value;      ///< [T, B] V of an episode's last observation; read if truncated
  at::Tensor bootstrap_value;  ///< [B] V of the observation after the last step
  at::Tensor valid;            ///< [T, B] bool; undefined means every step is valid
};

struct gae_options {
  double gamma = 0.99;   ///< The discount per step.
  double lambda = 0.95;  ///< 0 gives one-step advantages, 1 Monte Carlo returns minus values.
};

struct gae_targets {
  at::Tensor advantage;  ///< float [T, B]
  at::Tensor returns;    ///< float [T, B] advantage + value, the target of V
};

/// Generalised advantage estimation: Schulman et al. 2016, https://arxiv.org/abs/1506.02438,
/// equation 16. After a terminated step the next value is 0. After a truncated step it is
/// final_value, which is Stable-Baselines3's `reward += gamma * V(terminal_obs)`. A step that is
/// both counts as terminated. An invalid step gets advantage 0 and ends the sum of the steps before
/// it; its value, if finite, is the next value of the step before. The computation is in float32,
/// without gradient. Throws c10::Error if shapes disagree.
gae_targets gae(const gae_inputs& in, const gae_options& options = {});

}  // namespace troupe
