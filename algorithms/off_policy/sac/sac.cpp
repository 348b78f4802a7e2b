#include "algorithms/off_policy/sac/sac.hpp"

#include "algorithms/off_policy/learner_rule.hpp"
#include "algorithms/run/sde_options.hpp"

namespace troupe {

named_values named(const sac_metrics& m) {
  named_values columns{{"train/actor_loss", m.actor_loss},
                       {"train/critic_loss", m.critic_loss},
                       {"train/ent_coef", m.ent_coef},
                       {"train/entropy", m.entropy}};
  if (m.trained_ent_coef) columns.emplace_back("train/ent_coef_loss", m.ent_coef_loss);
  return columns;
}

void describe(options_schema<sac_training>& s) {
  describe_training(s);
  s.field("target_update_interval", &sac_training::target_update_interval)
      .at_least(1)
      .unit("gradient steps")
      .help("between updates of the targets");
  s.field("n_critics", &sac_training::n_critics)
      .at_least(1)
      .at_most(64)
      .help("the smallest of their values counts");
  s.field("ent_coef", &sac_training::ent_coef)
      .at_least(0)
      .help("weight of the entropy, alpha; null: adapted");
  s.field("initial_ent_coef", &sac_training::initial_ent_coef)
      .above(0)
      .help("where an adapted alpha starts");
  s.field("target_entropy", &sac_training::target_entropy)
      .unit("nats")
      .help("of an adapted alpha; null: minus the numbers of an action");
}

network_options sac_policy_section::options(network_kind kind) const {
  auto network = hidden_section::options(kind);
  network.log_std_init = log_std_init;
  network.use_sde = use_sde;
  network.use_expln = use_expln;
  network.sde_sample_freq = sde_sample_freq;
  return network;
}

void describe(options_schema<sac_policy_section>& s) {
  describe_hidden(s);
  describe_sde(s);
  s.field("log_std_init", &sac_policy_section::log_std_init)
      .help("with use_sde, start of the log standard deviations of its noise");
}

void describe(options_schema<sac_config>& s) { describe_off_policy(s); }

std::vector<idle_rule> idle_rules_of(const sac_config& c) {
  auto rules = idle_rules_of(static_cast<const off_policy_config&>(c));
  rules.push_back({c.trainer.ent_coef.has_value(),
                   "trainer.ent_coef is fixed",
                   {"trainer.initial_ent_coef", "trainer.target_entropy"}});
  rules.push_back({!c.policy.use_sde,
                   "policy.use_sde is false",
                   {"policy.sde_sample_freq", "policy.use_expln", "policy.log_std_init"}});
  return rules;
}

trainable trainable_of(const sac_config& c) {
  return trainable_of(algorithm_of<learner_rule<sac_learner>>(c, network_kind::squashed_gaussian));
}

}  // namespace troupe
