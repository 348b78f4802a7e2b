#pragma once
// The options and the configuration of MAPPO.

#include "algorithms/multi_agent/on_policy/config.hpp"

namespace troupe {

/// The configuration of a MAPPO run.
struct mappo_config : multi_agent_on_policy_config {
  mappo_config();

  agent_ppo_options trainer;
};

void describe(options_schema<mappo_config>& s);

}  // namespace troupe
