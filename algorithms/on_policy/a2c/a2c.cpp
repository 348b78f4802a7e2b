#include "algorithms/on_policy/a2c/a2c.hpp"

#include <limits>
#include <nlohmann/json.hpp>

#include "algorithms/on_policy/on_policy.hpp"

namespace troupe {

a2c_config::a2c_config() {
  algo = "a2c";
  rollout.n_steps = 5;
  log.every_updates = 100;
}

void describe(enum_schema<optimizer_kind>& s) {
  s.name("adam", optimizer_kind::adam)
      .name("rmsprop", optimizer_kind::rmsprop)
      .name("rmsprop_tensorflow_like", optimizer_kind::rmsprop_tensorflow_like);
}

void describe(options_schema<a2c_options>& s) {
  s.field("lr", &a2c_options::lr)
      .also_known_as({"learning_rate"})
      .above(0)
      .help("the optimiser's step size at the start");
  s.field("lr_schedule", &a2c_options::lr_schedule).help("linear: falls to 0 at the end");
  s.field("gamma", &a2c_options::gamma).at_least(0).at_most(1).help("discount a step");
  s.field("gae_lambda", &a2c_options::gae_lambda)
      .at_least(0)
      .at_most(1)
      .help("1: n-step returns; Schulman et al. 2016, equation 16");
  s.field("ent_coef", &a2c_options::ent_coef).at_least(0).help("weight of the entropy bonus");
  s.field("vf_coef", &a2c_options::vf_coef).at_least(0).help("weight of the value loss");
  s.field("max_grad_norm", &a2c_options::max_grad_norm)
      .at_least(0)
      .help("of all parameters together; 0: no clipping");
  s.field("normalize_advantage", &a2c_options::normalize_advantage).help("in each batch");
  s.field("optimizer", &a2c_options::optimizer)
      .help("rmsprop: PyTorch's; rmsprop_tensorflow_like: Stable-Baselines3's RMSpropTFLike");
  s.field("optimizer_eps", &a2c_options::optimizer_eps)
      .also_known_as({"rms_prop_eps"})
      .above(0)
      .help("the optimiser's epsilon");
  s.field("rmsprop_alpha", &a2c_options::rmsprop_alpha)
      .at_least(0)
      .below(1)
      .help("decay of rmsprop's mean square");
  s.field("importance_cap", &a2c_options::importance_cap)
      .above(0)
      .help("largest importance weight of stale data");
  s.field("max_skipped_steps", &a2c_options::max_skipped_steps)
      .at_least(1)
      .help("optimiser steps in a row with non-finite numbers that end training");
  describe_ranks(s);
}

void describe(options_schema<a2c_config>& s) {
  describe_on_policy(s);
  describe_trainer(s);
}

ppo_options learner_of(const a2c_config& config) {
  const auto& t = config.trainer;
  return {.lr = t.lr,
          .lr_schedule = t.lr_schedule,
          .n_steps = config.rollout.n_steps,
          .batch_size = static_cast<int>(config.steps_of_update()),
          .n_epochs = 1,
          .gamma = t.gamma,
          .gae_lambda = t.gae_lambda,
          .clip_range = std::numeric_limits<double>::infinity(),
          .normalize_advantage = t.normalize_advantage,
          .ent_coef = t.ent_coef,
          .vf_coef = t.vf_coef,
          .max_grad_norm = t.max_grad_norm,
          .optimizer_eps = t.optimizer_eps,
          .importance_cap = t.importance_cap,
          .max_skipped_steps = t.max_skipped_steps,
          .replicas = t.replicas,
          .rank_timeout = t.rank_timeout,
          .network = config.network(),
          .optimizer = t.optimizer,
          .rmsprop_alpha = t.rmsprop_alpha};
}

std::vector<idle_rule> idle_rules_of(const a2c_config& config) {
  auto rules = idle_rules_of(static_cast<const on_policy_config&>(config));
  rules.push_back({config.trainer.optimizer == optimizer_kind::adam,
                   "trainer.optimizer is adam",
                   {"trainer.rmsprop_alpha"}});
  return rules;
}

trainable trainable_of(const a2c_config& config) {
  return on_policy_algorithm(config, {.config = config, .learner = learner_of(config)});
}

}  // namespace troupe
