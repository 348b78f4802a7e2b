#pragma once
// The options and the configuration of DQN.

#include <algorithm>
#include <cstdint>

#include "actors/trainer/weight_decay.hpp"
#include "algorithms/off_policy/config.hpp"

namespace troupe {

/// The options of update rules that learn action values by target networks: DQN's, and those of
/// several agents. The defaults are those of Stable-Baselines3's DQN and its MlpPolicy.
struct action_value_options : off_policy_options {
  action_value_options() {
    lr = 1e-4;
    batch_size = 32;
    tau = 1.0;
  }

  std::int64_t target_update_interval = 10'000;
  double max_grad_norm = 10.0;
  bool double_q = false;
};

/// The options of DQN's update rule; `describe` has their units, ranges and meanings.
struct dqn_options : action_value_options {
  bool dueling = false;
  double weight_decay = 0.0;
  decayed_parameters weight_decay_of = decayed_parameters::all;
};

/// Returns the number of steps of each environment between updates of the target network.
inline std::int64_t target_update_steps(const action_value_options& options,
                                        const env_section& env) {
  return std::max<std::int64_t>(options.target_update_interval / env.n_envs, 1);
}

/// Describes the fields of action_value_options for an Options derived from it.
template <class Options>
void describe_action_values(options_schema<Options>& s) {
  describe_training(s);
  s.field("target_update_interval", &action_value_options::target_update_interval)
      .at_least(1)
      .unit("environment steps")
      .help("The number of environment steps between updates of the target network.");
  s.field("max_grad_norm", &action_value_options::max_grad_norm)
      .at_least(0)
      .help(
          "The largest norm of the gradient of all parameters together; larger gradients are "
          "scaled down to it. 0 means no clipping.");
  s.field("double_q", &action_value_options::double_q)
      .also_known_as({"double", "double_dqn", "is_double"})
      .help(
          "If true, the online network chooses the action whose target value is used (van Hasselt "
          "et al. 2016).");
}

/// The configuration of a DQN run. The defaults are Stable-Baselines3's.
struct dqn_config : off_policy_config_with<dqn_options> {
  dqn_config();

  epsilon_schedule exploration;
};

void describe(options_schema<dqn_options>& s);
void describe(options_schema<dqn_config>& s);

}  // namespace troupe
