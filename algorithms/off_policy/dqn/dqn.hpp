#pragma once
// DQN (Mnih et al. 2015, https://doi.org/10.1038/nature14236); see
// off_policy/off_policy.hpp for who is in it.

#include "algorithms/off_policy/dqn/dqn_learner.hpp"
#include "algorithms/off_policy/off_policy.hpp"

namespace troupe {

struct dqn_training : training_section<dqn_options> {
  dqn_training() { batch_size = 32; }

  std::int64_t target_update_interval = 10'000;  ///< environment steps between target updates
};

/// Everything that decides a DQN run. Defaults: Stable-Baselines3's.
struct dqn_config : off_policy_config_with<dqn_training> {
  dqn_config() {
    algo = "dqn";
    collection.train_freq = 4;
    policy.hidden = {64, 64};
  }

  epsilon_schedule exploration;

  /// Steps of each environment between target updates.
  std::int64_t target_update_steps() const;
};

void describe(options_schema<dqn_training>& s);
void describe(options_schema<dqn_config>& s);

/// For train_in and run_training.
trainable trainable_of(const dqn_config& config);

}  // namespace troupe
