#pragma once
// TD3 (Fujimoto et al. 2018, https://arxiv.org/abs/1802.09477) and DDPG
// (Lillicrap et al. 2016, https://arxiv.org/abs/1509.02971) as casts of
// services; see off_policy/off_policy.hpp for who is in them.

#include "algorithms/off_policy/off_policy.hpp"
#include "algorithms/off_policy/td3/td3_learner.hpp"

namespace troupe {

using td3_training = training_section<td3_options>;

/// Everything that decides a TD3 run. Defaults: Stable-Baselines3's, which add
/// no noise to actions.
struct td3_config : off_policy_config_with<td3_training> {
  td3_config() {
    algo = "td3";
    env.id = "Pendulum-v1";
    policy.hidden = {400, 300};
  }

  action_noise_options noise;
};

/// The same with ddpg_options.
struct ddpg_config : td3_config {
  ddpg_config() {
    algo = "ddpg";
    static_cast<td3_options&>(trainer) = ddpg_options();
  }
};

void describe(options_schema<td3_training>& s);
void describe(options_schema<td3_config>& s);
void describe(options_schema<ddpg_config>& s);

std::vector<idle_rule> idle_rules_of(const td3_config& config);

/// For train_in and run_training.
trainable trainable_of(const td3_config& config);
trainable trainable_of(const ddpg_config& config);

}  // namespace troupe
