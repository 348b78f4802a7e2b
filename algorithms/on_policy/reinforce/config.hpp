#pragma once
// The options and the configuration of REINFORCE.

#include "algorithms/on_policy/config.hpp"

namespace troupe {

/// The options of REINFORCE's update rule; `describe` has their units, ranges and meanings.
struct reinforce_options : on_policy_options {
  reinforce_options() {
    lr = 1e-2;
    gae_lambda = 1.0;
    normalize_advantage = false;
    whole_episodes = true;
  }
};

/// The configuration of a REINFORCE run.
struct reinforce_config : on_policy_config {
  reinforce_config();

  reinforce_options trainer;
};

void describe(options_schema<reinforce_options>& s);
void describe(options_schema<reinforce_config>& s);

}  // namespace troupe
