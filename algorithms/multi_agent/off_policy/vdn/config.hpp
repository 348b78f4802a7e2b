#pragma once
// The options and the configuration of VDN.

#include "algorithms/multi_agent/off_policy/config.hpp"

namespace troupe {

/// The configuration of a VDN run.
struct vdn_config : joint_q_config {
  vdn_config();
};

void describe(options_schema<vdn_config>& s);

}  // namespace troupe
