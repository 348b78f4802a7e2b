#pragma once
// The options and the configuration of IQL.

#include "algorithms/multi_agent/off_policy/config.hpp"

namespace troupe {

/// The configuration of an IQL run.
struct iql_config : joint_q_config {
  iql_config();
};

void describe(options_schema<iql_config>& s);

}  // namespace troupe
