#pragma once
// The options and the configuration of PPO.

#include <optional>

#include "algorithms/on_policy/config.hpp"

namespace troupe {

/// The options of PPO's update rule; `describe` has their units, ranges and meanings. The defaults
/// are those of Stable-Baselines3's PPO and its MlpPolicy.
struct ppo_options : on_policy_options {
  double clip_range = 0.2;
  annealing clip_schedule = annealing::constant;
  std::optional<double> clip_range_vf = {};
};

/// The configuration of a PPO run.
struct ppo_config : on_policy_config {
  ppo_config() { algo = "ppo"; }

  ppo_options trainer;
};

void describe(options_schema<ppo_options>& s);
void describe(options_schema<ppo_config>& s);

}  // namespace troupe
