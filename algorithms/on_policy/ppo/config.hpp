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

/// Describes the fields of an Options derived from ppo_options.
template <class Options>
void describe_ppo(options_schema<Options>& s) {
  describe_update_rule(s, "adam_eps");
  describe_advantages(s);
  describe_epochs(s);
  s.field("clip_range", &ppo_options::clip_range)
      .also_known_as({"clip", "clip_coef"})
      .above(0)
      .or_infinity()
      .help(
          "The probability ratio counts only within 1 +- clip_range (Schulman et al. 2017, "
          "equation 7).");
  s.field("clip_schedule", &ppo_options::clip_schedule)
      .help(
          "How clip_range changes: constant keeps it, linear lets it fall to 0 at the end of "
          "training.");
  s.field("clip_range_vf", &ppo_options::clip_range_vf)
      .above(0)
      .unit("return")
      .help(
          "In the value loss, a value may differ from the old value by at most this; null means no "
          "clipping.");
}

void describe(options_schema<ppo_options>& s);
void describe(options_schema<ppo_config>& s);

}  // namespace troupe
