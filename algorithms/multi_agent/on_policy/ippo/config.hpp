#pragma once
// The options and the configuration of IPPO.

#include "algorithms/multi_agent/on_policy/config.hpp"

namespace troupe {

/// The configuration of an IPPO run.
struct ippo_config : multi_agent_on_policy_config {
  ippo_config();

  agent_ppo_options trainer;
};

void describe(options_schema<ippo_config>& s);

}  // namespace troupe
