#pragma once
// A2C: advantage actor-critic (Mnih et al. 2016, https://arxiv.org/abs/1602.01783, synchronous).
//
// It is PPO's first gradient step: at the weights that acted the ratio of probabilities is 1, so
// the clipped surrogate's gradient is the policy gradient's (Huang et al. 2022,
// https://arxiv.org/abs/2205.09123). So A2C is PPO's roles and learner, with one epoch, the whole
// batch at once, nothing clipped and its own defaults. In async mode stale rollouts are corrected
// as PPO's are.

#include "algorithms/on_policy/ppo/ppo_config.hpp"
#include "algorithms/run/train.hpp"

namespace troupe {

/// Defaults are those of Stable-Baselines3's A2C.
struct a2c_options {
  double lr = 7e-4;  ///< at the start
  annealing lr_schedule = annealing::constant;
  double gamma = 0.99;         ///< discount a step
  double gae_lambda = 1.0;     ///< 1: n-step returns
  double ent_coef = 0.0;       ///< weight of the entropy bonus
  double vf_coef = 0.5;        ///< weight of the value loss
  double max_grad_norm = 0.5;  ///< of all parameters together; 0: no clipping
  bool normalize_advantage = false;
  optimizer_kind optimizer = optimizer_kind::rmsprop;
  double optimizer_eps = 1e-5;
  double rmsprop_alpha = 0.99;  ///< decay of its mean square
  double importance_cap = 2.0;  ///< largest weight of stale data
  int max_skipped_steps = 10;   ///< non-finite steps in a row that end training
  int replicas = 1;             ///< learners that share the rows of each batch
  double rank_timeout = 30.0;   ///< seconds that one of them waits for the others
};

/// Everything that decides an A2C run. Defaults: Stable-Baselines3's.
struct a2c_config : on_policy_config {
  a2c_config();

  a2c_options trainer;
};

void describe(enum_schema<optimizer_kind>& s);
void describe(options_schema<a2c_options>& s);
void describe(options_schema<a2c_config>& s);

/// What it is to PPO's learner: one epoch with the whole batch at once, nothing clipped.
ppo_options learner_of(const a2c_config& config);
/// What changes nothing beside the others.
std::vector<idle_rule> idle_rules_of(const a2c_config& config);

/// For train_in and run_training.
trainable trainable_of(const a2c_config& config);

}  // namespace troupe
