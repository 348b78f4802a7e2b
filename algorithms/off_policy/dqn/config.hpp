#pragma once
// The options and the configuration of DQN.

#include "algorithms/off_policy/config.hpp"

namespace troupe {

/// The options of DQN's update rule; `describe` has their units, ranges and meanings. The defaults
/// are those of Stable-Baselines3's DQN and its MlpPolicy.
struct dqn_options : off_policy_options {
  dqn_options() {
    lr = 1e-4;
    batch_size = 32;
    tau = 1.0;
  }

  std::int64_t target_update_interval = 10'000;
  double max_grad_norm = 10.0;
  bool double_q = false;
  bool dueling = false;
};

/// The configuration of a DQN run. The defaults are Stable-Baselines3's.
struct dqn_config : off_policy_config_with<dqn_options> {
  dqn_config();

  epsilon_schedule exploration;

  /// The number of steps of each environment between updates of the target network.
  std::int64_t target_update_steps() const;
};

void describe(options_schema<dqn_options>& s);
void describe(options_schema<dqn_config>& s);

}  // namespace troupe
