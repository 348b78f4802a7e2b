#include "algorithms/off_policy/sac/config.hpp"

namespace troupe {

sac_config::sac_config() {
  algo = "sac";
  env.id = "Pendulum-v1";
}

void describe(options_schema<sac_options>& s) {
  describe_training(s);
  s.field("target_update_interval", &sac_options::target_update_interval)
      .at_least(1)
      .unit("gradient steps")
      .help("The number of gradient steps between updates of the target networks.");
  s.field("n_critics", &sac_options::n_critics)
      .at_least(1)
      .at_most(64)
      .help("The number of critics; the smallest of their values is used.");
  s.field("ent_coef", &sac_options::ent_coef)
      .at_least(0)
      .help("The weight of the entropy, alpha; null adapts it during training.");
  const auto adapts = [](const sac_options& o) { return !o.ent_coef; };
  s.field("initial_ent_coef", &sac_options::initial_ent_coef)
      .above(0)
      .has_effect_if("trainer.ent_coef is null", adapts)
      .help("The initial value of alpha.");
  s.field("target_entropy", &sac_options::target_entropy)
      .unit("nats")
      .has_effect_if("trainer.ent_coef is null", adapts)
      .help("The entropy that alpha aims at; null means minus the number of numbers in an action.");
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
      .has_effect_if("policy.use_sde is true",
                     [](const sac_policy_section& o) { return o.use_sde; })
      .help("The initial log standard deviation of the noise.");
}

void describe(options_schema<sac_config>& s) { describe_off_policy(s); }

}  // namespace troupe
