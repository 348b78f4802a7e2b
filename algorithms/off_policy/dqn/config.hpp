#pragma once

#include "algorithms/off_policy/config.hpp"

namespace troupe {

/// `describe` has the unit, the range and the meaning of each. Defaults are those of
/// Stable-Baselines3's DQN and its MlpPolicy.
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

/// Everything that decides a DQN run. Defaults: Stable-Baselines3's.
struct dqn_config : off_policy_config_with<dqn_options> {
  dqn_config();

  epsilon_schedule exploration;

  /// Steps of each environment between target updates.
  std::int64_t target_update_steps() const;
};

void describe(options_schema<dqn_options>& s);
void describe(options_schema<dqn_config>& s);

}  // namespace troupe
