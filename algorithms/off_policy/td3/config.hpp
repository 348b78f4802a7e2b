#pragma once
// The options and the configurations of TD3 and DDPG.

#include "algorithms/off_policy/config.hpp"

namespace troupe {

/// The options of TD3's update rule; `describe` has their units, ranges and meanings. The defaults
/// are those of Stable-Baselines3's TD3 and its MlpPolicy.
struct td3_options : off_policy_options {
  td3_options() { network.hidden = {400, 300}; }

  int policy_delay = 2;
  double target_policy_noise = 0.2;
  double target_noise_clip = 0.5;
  int n_critics = 2;
};

/// The options with which TD3 is DDPG (Lillicrap et al. 2016, https://arxiv.org/abs/1509.02971), as
/// in Stable-Baselines3: one critic, no delay, no noise on target actions.
td3_options ddpg_options();

/// The configuration of a TD3 run. The defaults are Stable-Baselines3's, which add no noise to
/// actions.
struct td3_config : off_policy_config_with<td3_options> {
  td3_config();

  action_noise_options noise;
};

/// The configuration of a DDPG run: that of TD3 with ddpg_options.
struct ddpg_config : td3_config {
  ddpg_config();
};

/// Describes the fields of td3_options for an Options derived from it.
template <class Options>
void describe_td3_options(options_schema<Options>& s) {
  describe_training(s);
  s.field("policy_delay", &td3_options::policy_delay)
      .at_least(1)
      .help("The number of gradient steps of the critics for each one of the actor.");
  s.field("target_policy_noise", &td3_options::target_policy_noise)
      .at_least(0)
      .help("The standard deviation of the noise on target actions, which are within -1..1.");
  s.field("target_noise_clip", &td3_options::target_noise_clip)
      .at_least(0)
      .has_effect_if("trainer.target_policy_noise is above 0",
                     [](const Options& o) { return o.target_policy_noise > 0; })
      .help("The noise on target actions is clipped to +- this.");
  s.field("n_critics", &td3_options::n_critics)
      .at_least(1)
      .at_most(64)
      .help("The number of critics; the smallest of their values is used.");
}

/// Describes the fields of td3_config for a Config derived from it.
template <class Config>
void describe_td3(options_schema<Config>& s) {
  describe_off_policy(s);
  s.field("noise", &td3_config::noise).help("The noise that is added to actions in collections.");
}

void describe(options_schema<td3_options>& s);
void describe(options_schema<td3_config>& s);
void describe(options_schema<ddpg_config>& s);

}  // namespace troupe
