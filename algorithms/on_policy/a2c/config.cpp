#include "algorithms/on_policy/a2c/config.hpp"

#include <nlohmann/json.hpp>

namespace troupe {

a2c_config::a2c_config() {
  algo = "a2c";
  rollout.n_steps = 5;
  log.every_updates = 100;
}

std::vector<idle_rule> idle_rules_of(const a2c_config& config) {
  auto rules = idle_rules_of(static_cast<const on_policy_config&>(config));
  rules.push_back({config.trainer.optimizer == optimizer_kind::adam,
                   "trainer.optimizer is adam",
                   {"trainer.rmsprop_alpha"}});
  return rules;
}

void describe(options_schema<a2c_options>& s) {
  describe_update_rule(s, "optimizer_eps", {"rms_prop_eps"});
  describe_advantages(s);
  describe_optimizer(s);
}

void describe(options_schema<a2c_config>& s) {
  describe_on_policy(s);
  describe_trainer(s);
}

}  // namespace troupe
