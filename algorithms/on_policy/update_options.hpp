#pragma once
#include <optional>

#include "actors/policy/network.hpp"
#include "algorithms/learner/annealing.hpp"

namespace troupe {

enum class optimizer_kind {
  adam,
  rmsprop,                 ///< as PyTorch
  rmsprop_tensorflow_like  ///< Stable-Baselines3's RMSpropTFLike
};

/// What decides an update of an on-policy learner, whatever its loss is. Defaults are those of
/// Stable-Baselines3's PPO and its MlpPolicy.
struct update_options {
  double lr = 3e-4;  ///< the optimiser's step size at the start
  annealing lr_schedule = annealing::constant;
  int batch_size = 64;               ///< rows in a minibatch
  int n_epochs = 10;                 ///< passes over a rollout
  double gamma = 0.99;               ///< discount a step
  double gae_lambda = 0.95;          ///< Schulman et al. 2016, equation 16
  bool normalize_advantage = true;   ///< within each minibatch
  double max_grad_norm = 0.5;        ///< of all parameters together; 0: no clipping
  std::optional<double> target_kl;   ///< stop an update at approx_kl > 1.5 times this
  bool proximal_correction = false;  ///< treat every batch as stale
  int max_skipped_steps = 10;        ///< non-finite steps in a row that end training
  bool baseline = true;              ///< false: no critic; advantages are discounted returns
  bool whole_episodes =
      false;  ///< true: steps of episodes under way at a rollout's end don't count

  optimizer_kind optimizer = optimizer_kind::adam;
  double optimizer_eps = 1e-5;
  double rmsprop_alpha = 0.99;  ///< decay of its mean square
  network_options network;      ///< hidden, activation, ortho_init, log_std_init
};

}  // namespace troupe
