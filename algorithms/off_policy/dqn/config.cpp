#include "algorithms/off_policy/dqn/config.hpp"

namespace troupe {

dqn_config::dqn_config() {
  algo = "dqn";
  collection.train_freq = 4;
  policy.hidden = {64, 64};
}

void describe(options_schema<dqn_options>& s) {
  describe_action_values(s);
  s.field("dueling", &dqn_options::dueling)
      .also_known_as({"dueling_dqn"})
      .help(
          "If true, the network gives a state's value and the advantages of actions (Wang et al. "
          "2016).");
  describe_weight_decay(s);
}

void describe(options_schema<dqn_config>& s) {
  describe_off_policy(s);
  describe_no_critic(s);
  s.field("exploration", &dqn_config::exploration)
      .help("The share of random actions in collections.");
}

}  // namespace troupe
