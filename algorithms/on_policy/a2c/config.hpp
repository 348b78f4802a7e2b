#pragma once
// The options and the configuration of A2C.

#include "algorithms/on_policy/config.hpp"

namespace troupe {

/// The options of A2C's update rule; `describe` has their units, ranges and meanings. The defaults
/// are those of Stable-Baselines3's A2C.
struct a2c_options : on_policy_options {
  a2c_options() {
    lr = 7e-4;
    gae_lambda = 1.0;
    normalize_advantage = false;
    optimizer = optimizer_kind::rmsprop;
  }
};

/// The configuration of an A2C run.
struct a2c_config : on_policy_config {
  a2c_config();

  a2c_options trainer;
};

void describe(options_schema<a2c_options>& s);
void describe(options_schema<a2c_config>& s);

}  // namespace troupe
