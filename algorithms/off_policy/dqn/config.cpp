#include "algorithms/off_policy/dqn/config.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace troupe {

dqn_config::dqn_config() {
  algo = "dqn";
  collection.train_freq = 4;
  policy.hidden = {64, 64};
}

std::int64_t dqn_config::target_update_steps() const {
  return std::max<std::int64_t>(trainer.target_update_interval / env.n_envs, 1);
}

void describe(options_schema<dqn_options>& s) {
  describe_training(s);
  s.field("target_update_interval", &dqn_options::target_update_interval)
      .at_least(1)
      .unit("environment steps")
      .help("between updates of the target network");
  s.field("max_grad_norm", &dqn_options::max_grad_norm)
      .at_least(0)
      .help("of all parameters together; 0: no clipping");
  s.field("double_q", &dqn_options::double_q)
      .also_known_as({"double", "double_dqn", "is_double"})
      .help("the online network chooses the target's action: van Hasselt et al. 2016");
  s.field("dueling", &dqn_options::dueling)
      .also_known_as({"dueling_dqn"})
      .help("a state's value and the actions' advantages, from one network: Wang et al. 2016");
}

void describe(options_schema<dqn_config>& s) {
  describe_off_policy(s);
  s.field("exploration", &dqn_config::exploration).help("random actions of the collectors");
}

}  // namespace troupe
