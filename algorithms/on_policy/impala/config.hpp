#pragma once
// The options and the configuration of IMPALA.

#include <optional>

#include "algorithms/on_policy/config.hpp"

namespace troupe {

/// The options of IMPALA's update rule; `describe` has their units, ranges and meanings. The
/// defaults are those of RLlib's IMPALA.
struct impala_options : on_policy_options {
  impala_options();

  std::optional<double> clip_range = {};
  annealing clip_schedule = annealing::constant;
};

/// The configuration of an IMPALA run.
struct impala_config : on_policy_config {
  impala_config();

  impala_options trainer;
};

void describe(options_schema<impala_options>& s);
void describe(options_schema<impala_config>& s);

}  // namespace troupe
