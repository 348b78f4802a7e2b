#include "algorithms/on_policy/reinforce/reinforce.hpp"

#include <limits>
#include <nlohmann/json.hpp>

#include "algorithms/on_policy/on_policy.hpp"

namespace troupe {

reinforce_config::reinforce_config() {
  algo = "reinforce";
  rollout.n_steps = 1000;
}

void describe(options_schema<reinforce_options>& s) {
  s.field("lr", &reinforce_options::lr)
      .also_known_as({"learning_rate"})
      .above(0)
      .help("Adam's step size at the start");
  s.field("lr_schedule", &reinforce_options::lr_schedule).help("linear: falls to 0 at the end");
  s.field("gamma", &reinforce_options::gamma).at_least(0).at_most(1).help("discount a step");
  s.field("baseline", &reinforce_options::baseline)
      .help("a critic's value is subtracted from returns");
  s.field("normalize_returns", &reinforce_options::normalize_returns)
      .help("what is left is brought to mean 0 and deviation 1 in each batch");
  s.field("ent_coef", &reinforce_options::ent_coef).at_least(0).help("weight of the entropy bonus");
  s.field("vf_coef", &reinforce_options::vf_coef).at_least(0).help("weight of the baseline's loss");
  s.field("max_grad_norm", &reinforce_options::max_grad_norm)
      .at_least(0)
      .help("of all parameters together; 0: no clipping");
  s.field("adam_eps", &reinforce_options::adam_eps).above(0).help("Adam's epsilon");
  s.field("importance_cap", &reinforce_options::importance_cap)
      .above(0)
      .help("largest importance weight of stale data");
  s.field("max_skipped_steps", &reinforce_options::max_skipped_steps)
      .at_least(1)
      .help("optimiser steps in a row with non-finite numbers that end training");
  describe_ranks(s);
}

void describe(options_schema<reinforce_config>& s) {
  describe_on_policy(s);
  describe_trainer(s);
}

ppo_options learner_of(const reinforce_config& config) {
  const auto& t = config.trainer;
  return {.lr = t.lr,
          .lr_schedule = t.lr_schedule,
          .n_steps = config.rollout.n_steps,
          .batch_size = static_cast<int>(config.steps_of_update()),
          .n_epochs = 1,
          .gamma = t.gamma,
          .gae_lambda = 1.0,
          .clip_range = std::numeric_limits<double>::infinity(),
          .normalize_advantage = t.normalize_returns,
          .ent_coef = t.ent_coef,
          .vf_coef = t.vf_coef,
          .max_grad_norm = t.max_grad_norm,
          .optimizer_eps = t.adam_eps,
          .importance_cap = t.importance_cap,
          .max_skipped_steps = t.max_skipped_steps,
          .replicas = t.replicas,
          .rank_timeout = t.rank_timeout,
          .network = config.network(),
          .baseline = t.baseline,
          .whole_episodes = true};
}

std::vector<idle_rule> idle_rules_of(const reinforce_config& config) {
  auto rules = idle_rules_of(static_cast<const on_policy_config&>(config));
  rules.push_back({!config.trainer.baseline, "trainer.baseline is false", {"trainer.vf_coef"}});
  return rules;
}

trainable trainable_of(const reinforce_config& config) {
  return on_policy_algorithm(config, {.config = config, .learner = learner_of(config)});
}

}  // namespace troupe
