#pragma once
#include <ATen/core/Tensor.h>

namespace troupe {

struct gae_inputs {
  at::Tensor reward;           ///< [T, B]
  at::Tensor value;            ///< [T, B] V(s_t)
  at::Tensor terminated;       ///< [T, B] bool: the episode reached its end at this step
  at::Tensor truncated;        ///< [T, B] bool: the episode was cut at this step, not ended
  at::Tensor final_value;      ///< [T, B] V of an episode's last observation; read where truncated
  at::Tensor bootstrap_value;  ///< [B] V of the observation after the last step
  at::Tensor valid;            ///< [T, B] bool, or undefined: every step is
};

struct gae_options {
  double gamma = 0.99;   ///< discount a step
  double lambda = 0.95;  ///< 0: one-step advantage, 1: Monte Carlo return less value
};

struct gae_targets {
  at::Tensor advantage;  ///< float [T, B]
  at::Tensor returns;    ///< float [T, B] advantage + value, what V is trained towards
};

/// Generalised advantage estimation: Schulman et al. 2016, https://arxiv.org/abs/1506.02438,
/// equation 16. Nothing follows a terminated step; a truncated one is followed by final_value,
/// which is Stable-Baselines3's `reward += gamma * V(terminal_obs)`. A step that is both is
/// terminated. An invalid step gets advantage 0 and cuts the sum; its value, if finite, still ends
/// the step before. Computed in float32. No gradient flows. Throws c10::Error if shapes disagree.
gae_targets gae(const gae_inputs& in, const gae_options& options = {});

}  // namespace troupe
