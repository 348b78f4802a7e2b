#include "algorithms/on_policy/a2c/config.hpp"

namespace troupe {

a2c_config::a2c_config() {
  algo = "a2c";
  rollout.n_steps = 5;
  log.every_updates = 100;
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
