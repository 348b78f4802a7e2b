#pragma once

#include "algorithms/off_policy/config.hpp"

namespace troupe {

/// `describe` has the unit, the range and the meaning of each. Defaults are those of
/// Stable-Baselines3's TD3 and its MlpPolicy.
struct td3_options : off_policy_options {
  td3_options() { network.hidden = {400, 300}; }

  int policy_delay = 2;
  double target_policy_noise = 0.2;
  double target_noise_clip = 0.5;
  int n_critics = 2;
};

/// DDPG, Lillicrap et al. 2016, https://arxiv.org/abs/1509.02971, as Stable-Baselines3 makes it of
/// TD3: one critic, no delay, no noise on target actions.
td3_options ddpg_options();

/// Everything that decides a TD3 run. Defaults: Stable-Baselines3's, which add no noise to actions.
struct td3_config : off_policy_config_with<td3_options> {
  td3_config();

  action_noise_options noise;
};

/// The same with ddpg_options.
struct ddpg_config : td3_config {
  ddpg_config();
};

/// The fields of td3_config as those of a Config that is derived from it.
template <class Config>
void describe_td3(options_schema<Config>& s) {
  describe_off_policy(s);
  s.field("noise", &td3_config::noise).help("of the collectors' actions");
}

void describe(options_schema<td3_options>& s);
void describe(options_schema<td3_config>& s);
void describe(options_schema<ddpg_config>& s);

std::vector<idle_rule> idle_rules_of(const td3_config& config);

}  // namespace troupe
