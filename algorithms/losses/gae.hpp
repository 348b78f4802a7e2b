#pragma once
// Generalised advantage estimation, from which on-policy algorithms take advantages and returns.

#include <ATen/core/Tensor.h>

namespace troupe {

/// The inputs of gae for T steps of B environments. All are CPU tensors of any number type, which
/// is converted to float32 or bool.
struct gae_inputs {
  at::Tensor reward;      ///< [T, B] The reward of step t.
  at::Tensor value;       ///< [T, B] V(s_t), the value of the observation before step t.
  at::Tensor terminated;  ///< [T, B] bool: a terminal state was reached in step t.
  at::Tensor truncated;   ///< [T, B] bool: the episode was cut short after step t.
  /// [T, B] The value of an episode's last observation. Only entries of steps that are truncated
  /// and not terminated are read; the others may have any value.
  at::Tensor final_value;
  /// [B] The value of the observation after step T - 1. An entry isn't read if that step ended the
  /// episode or is invalid.
  at::Tensor bootstrap_value;
  /// [T, B] bool: false for a step that is no transition, such as one in which the environment
  /// failed. Undefined means that every step is valid.
  at::Tensor valid;
};

/// The two coefficients of gae. Their range is not checked.
struct gae_options {
  double gamma = 0.99;  ///< The discount per step, 0 to 1.
  /// The weight of later steps, 0 to 1. With 0 an advantage is the one-step error; with 1 it is the
  /// Monte Carlo return minus the value.
  double lambda = 0.95;
};

/// The results of gae.
struct gae_targets {
  at::Tensor advantage;  ///< float32 [T, B]
  at::Tensor returns;    ///< float32 [T, B] advantage + value, the target of V
};

/// Computes generalised advantage estimation by equation 16 of Schulman et al. 2016,
/// https://arxiv.org/abs/1506.02438. The sum of a step's advantage stops at the end of its episode.
/// After a terminated step the next value is 0. After a truncated step the next value is
/// final_value; Stable-Baselines3 reaches the same result by `reward += gamma * V(terminal_obs)`. A
/// step that is both terminated and truncated counts as terminated. An invalid step has advantage
/// 0, and the sums of the steps before it stop before it. The next value of the step before is the
/// invalid step's value, or 0 if that is not finite. The computation is in float32, without
/// gradient. Throws c10::Error for an undefined tensor other than `valid` and for shapes that
/// disagree.
gae_targets gae(const gae_inputs& in, const gae_options& options = {});

}  // namespace troupe
