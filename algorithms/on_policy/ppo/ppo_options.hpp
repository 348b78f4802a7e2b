#pragma once
#include <optional>

#include "algorithms/on_policy/update_options.hpp"

namespace troupe {

/// Defaults are those of Stable-Baselines3's PPO and its MlpPolicy. The last ones make other
/// members of the family of it: see a2c.hpp and reinforce.hpp.
struct ppo_options {
  double lr = 3e-4;  ///< Adam's step size at the start
  annealing lr_schedule = annealing::constant;
  int n_steps = 2048;        ///< T, steps of each environment in a rollout
  int batch_size = 64;       ///< rows in a minibatch
  int n_epochs = 10;         ///< passes over a rollout
  double gamma = 0.99;       ///< discount a step
  double gae_lambda = 0.95;  ///< Schulman et al. 2016, equation 16
  double clip_range = 0.2;   ///< Schulman et al. 2017, equation 7
  annealing clip_schedule = annealing::constant;
  std::optional<double> clip_range_vf;  ///< in units of return; none: no value clipping
  bool normalize_advantage = true;      ///< within each minibatch
  double ent_coef = 0.0;                ///< weight of the entropy bonus
  double vf_coef = 0.5;                 ///< weight of the value loss
  double max_grad_norm = 0.5;           ///< of all parameters together; 0: no clipping
  std::optional<double> target_kl;      ///< stop an update at approx_kl > 1.5 times this
  double optimizer_eps = 1e-5;
  double importance_cap = 2.0;       ///< largest weight of stale data
  bool proximal_correction = false;  ///< treat every batch as stale: decoupled PPO
  int max_skipped_steps = 10;        ///< non-finite steps in a row that end training
  int replicas = 1;                  ///< learners that share the rows of each minibatch
  double rank_timeout = 30.0;        ///< seconds that one of them waits for the others
  network_options network;           ///< hidden, activation, ortho_init, log_std_init

  optimizer_kind optimizer = optimizer_kind::adam;
  double rmsprop_alpha = 0.99;  ///< decay of its mean square
  bool baseline = true;         ///< false: no critic; advantages are discounted returns
  bool whole_episodes =
      false;  ///< true: steps of episodes under way at a rollout's end don't count
};

}  // namespace troupe
