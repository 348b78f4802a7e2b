#pragma once
#include <optional>

#include "actors/policy/network.hpp"

namespace troupe {

enum class lr_schedule { constant, linear };

/// Defaults are those of Stable-Baselines3's PPO and its MlpPolicy.
struct ppo_options {
  double lr = 3e-4;                              ///< Adam's step size at the start
  lr_schedule schedule = lr_schedule::constant;  ///< linear: lr * progress_remaining
  int n_steps = 2048;                            ///< T, steps of each environment in a rollout
  int batch_size = 64;                           ///< rows in a minibatch
  int n_epochs = 10;                             ///< passes over a rollout
  double gamma = 0.99;                           ///< discount a step
  double gae_lambda = 0.95;                      ///< Schulman et al. 2016, equation 16
  double clip_range = 0.2;                       ///< Schulman et al. 2017, equation 7
  std::optional<double> clip_range_vf;           ///< in units of return; none: no value clipping
  bool normalize_advantage = true;               ///< within each minibatch
  double ent_coef = 0.0;                         ///< weight of the entropy bonus
  double vf_coef = 0.5;                          ///< weight of the value loss
  double max_grad_norm = 0.5;                    ///< of all parameters together; 0: no clipping
  std::optional<double> target_kl;               ///< stop an update at approx_kl > 1.5 times this
  double adam_eps = 1e-5;
  double importance_cap = 2.0;       ///< largest weight of stale data
  bool proximal_correction = false;  ///< treat every batch as stale: decoupled PPO
  int max_skipped_steps = 10;        ///< non-finite steps in a row that end training
  network_options network;           ///< hidden, activation, ortho_init, log_std_init
};

}  // namespace troupe
