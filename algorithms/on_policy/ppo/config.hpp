#pragma once
// The options and the configuration of PPO.

#include <optional>

#include "algorithms/losses/ppo_loss.hpp"
#include "algorithms/on_policy/config.hpp"

namespace troupe {

/// The options of PPO's update rule; `describe` has their units, ranges and meanings. The defaults
/// are those of Stable-Baselines3's PPO and its MlpPolicy.
struct ppo_options : on_policy_options {
  double clip_range = 0.2;
  annealing clip_schedule = annealing::constant;
  std::optional<double> clip_range_vf = {};
  value_clipping clip_vf_loss = value_clipping::clipped;
  std::optional<double> huber_delta = {};
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
  describe_weight_decay(s);
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
  const auto learns_values = [](const Options& o) { return o.vf_coef > 0; };
  s.field("clip_range_vf", &ppo_options::clip_range_vf)
      .above(0)
      .unit("return")
      .has_effect_if("trainer.vf_coef is above 0", learns_values)
      .help(
          "In the value loss, a value may differ from the old value by at most this, with "
          "normalised values by so many of their deviations; null means no clipping.");
  s.field("clip_vf_loss", &ppo_options::clip_vf_loss)
      .also_known_as({"use_clipped_value_loss", "clip_vloss"})
      .has_effect_if("trainer.clip_range_vf has a value",
                     [](const Options& o) { return o.clip_range_vf.has_value(); })
      .has_effect_if("trainer.vf_coef is above 0", learns_values)
      .help(
          "The value loss with clipping: clipped is the loss of the clipped value, as in "
          "Stable-Baselines3; "
          "larger is the larger one of the losses of the value and of the clipped value, as in "
          "MAPPO's code and CleanRL.");
  s.field("huber_delta", &ppo_options::huber_delta)
      .also_known_as({"use_huber_loss"})
      .at_least(1e-6)
      .unit("return")
      .has_effect_if("trainer.vf_coef is above 0", learns_values)
      .help(
          "Beyond this distance from the return, with normalised values so many deviations, a "
          "value's loss grows linearly and no longer by the square: it is twice the Huber loss. "
          "null means that it is the squared error everywhere.");
}

void describe(enum_schema<value_clipping>& s);
void describe(options_schema<ppo_options>& s);
void describe(options_schema<ppo_config>& s);

}  // namespace troupe
