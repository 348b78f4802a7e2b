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
      .help("The number of environment steps between updates of the target network.");
  s.field("max_grad_norm", &dqn_options::max_grad_norm)
      .at_least(0)
      .help(
          "The largest norm of the gradient of all parameters together; larger gradients are "
          "scaled down to it. 0 means no clipping.");
  s.field("double_q", &dqn_options::double_q)
      .also_known_as({"double", "double_dqn", "is_double"})
      .help(
          "If true, the online network chooses the action whose target value is used (van Hasselt "
          "et al. 2016).");
  s.field("dueling", &dqn_options::dueling)
      .also_known_as({"dueling_dqn"})
      .help(
          "If true, the network gives a state's value and the advantages of actions (Wang et al. "
          "2016).");
}

void describe(options_schema<dqn_config>& s) {
  describe_off_policy(s);
  s.field("exploration", &dqn_config::exploration)
      .help("The share of random actions in collections.");
}

}  // namespace troupe
