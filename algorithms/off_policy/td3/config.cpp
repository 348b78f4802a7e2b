#include "algorithms/off_policy/td3/config.hpp"

namespace troupe {

td3_options ddpg_options() {
  td3_options options;
  options.policy_delay = 1;
  options.target_policy_noise = 0.0;
  options.target_noise_clip = 0.0;
  options.n_critics = 1;
  return options;
}

td3_config::td3_config() {
  algo = "td3";
  env.id = "Pendulum-v1";
  policy.hidden = {400, 300};
}

ddpg_config::ddpg_config() {
  algo = "ddpg";
  trainer = ddpg_options();
}

void describe(options_schema<td3_options>& s) { describe_td3_options(s); }

void describe(options_schema<td3_config>& s) { describe_td3(s); }
void describe(options_schema<ddpg_config>& s) { describe_td3(s); }

}  // namespace troupe
