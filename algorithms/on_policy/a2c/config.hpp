#pragma once

#include "algorithms/on_policy/config.hpp"

namespace troupe {

/// `describe` has the unit, the range and the meaning of each. Defaults are those of
/// Stable-Baselines3's A2C.
struct a2c_options : on_policy_options {
  a2c_options() {
    lr = 7e-4;
    gae_lambda = 1.0;
    normalize_advantage = false;
    optimizer = optimizer_kind::rmsprop;
  }
};

/// Everything that decides an A2C run.
struct a2c_config : on_policy_config {
  a2c_config();

  a2c_options trainer;
};

void describe(options_schema<a2c_options>& s);
void describe(options_schema<a2c_config>& s);

/// What of a run by it has no effect.
std::vector<idle_rule> idle_rules_of(const a2c_config& config);

}  // namespace troupe
