#include "algorithms/on_policy/reinforce/config.hpp"

namespace troupe {

reinforce_config::reinforce_config() {
  algo = "reinforce";
  rollout.n_steps = 1000;
}

void describe(options_schema<reinforce_options>& s) {
  describe_update_rule(s, "adam_eps");
  s.field("baseline", &reinforce_options::baseline)
      .help("If true, a critic's value is subtracted from each return.");
  s.option(&reinforce_options::vf_coef)
      .has_effect_if("trainer.baseline is true",
                     [](const reinforce_options& o) { return o.baseline; });
  s.field("normalize_returns", &reinforce_options::normalize_advantage)
      .help(
          "If true, returns, less the critic's value if there is one, are normalised to mean 0 and "
          "deviation 1 in each batch.");
}

void describe(options_schema<reinforce_config>& s) {
  describe_on_policy(s);
  describe_trainer(s);
  s.option(&reinforce_config::policy, &network_options::critic_hidden)
      .has_effect_if("trainer.baseline is true",
                     [](const reinforce_config& c) { return c.trainer.baseline; });
}

}  // namespace troupe
