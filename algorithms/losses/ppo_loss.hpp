#pragma once
#include <optional>

#include <ATen/core/Tensor.h>

namespace troupe {

/// What an on-policy loss is made of: all float [N], N the size of the minibatch. Gradient flows to
/// the first three alone.
struct ppo_loss_inputs {
  at::Tensor log_prob;            ///< of the action taken, under the weights being trained
  at::Tensor entropy;             ///< of the distribution it came from
  at::Tensor value;               ///< V(s) under the weights being trained
  at::Tensor behaviour_log_prob;  ///< under the weights that acted
  at::Tensor proximal_log_prob;   ///< under the weights the update began with; undefined: the same
  at::Tensor advantage;           ///< normalised already, where it is to be
  at::Tensor returns;
  at::Tensor old_value;  ///< V(s) when the update began; read with clip_range_vf
};

/// Defaults are Stable-Baselines3's.
struct ppo_loss_options {
  double clip_range = 0.2;              ///< ratio is held within 1 +- this
  std::optional<double> clip_range_vf;  ///< value is held within old_value +- this; none: free
  double ent_coef = 0.0;                ///< weight of the entropy bonus
  double vf_coef = 0.5;                 ///< weight of the value's mean squared error
  double importance_cap = 2.0;          ///< largest weight of stale data
};

/// Stable-Baselines3's names and meanings, plus importance_weight.
struct ppo_loss_metrics {
  double loss = 0.0;
  double policy_gradient_loss = 0.0;
  double value_loss = 0.0;
  double entropy_loss = 0.0;       ///< minus the mean entropy
  double approx_kl = 0.0;          ///< KL(proximal, current) by mean((r - 1) - log r), "k3"
  double clip_fraction = 0.0;      ///< share of rows with |r - 1| > clip_range
  double importance_weight = 1.0;  ///< mean of min(proximal / behaviour, importance_cap)
};

struct ppo_loss_result {
  at::Tensor loss;  ///< scalar with gradient
  ppo_loss_metrics metrics;
};

/// The clipped surrogate, Schulman et al. 2017, https://arxiv.org/abs/1707.06347, equation 7, with
/// value loss and entropy bonus, equation 9. With a proximal policy of its own it is decoupled PPO:
/// Hilton et al. 2021, https://arxiv.org/abs/2110.00641, the decoupled clipped objective; its
/// weight proximal / behaviour is truncated at importance_cap. Without, the weight is 1: plain PPO.
/// Throws c10::Error if shapes disagree.
ppo_loss_result ppo_loss(const ppo_loss_inputs& in, const ppo_loss_options& options = {});

}  // namespace troupe
