#include "algorithms/on_policy/ppo/config.hpp"

#include <nlohmann/json.hpp>

namespace troupe {

void describe(options_schema<ppo_options>& s) {
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

void describe(options_schema<ppo_config>& s) {
  describe_on_policy(s);
  describe_trainer(s);
}

}  // namespace troupe
