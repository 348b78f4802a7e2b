#include "algorithms/multi_agent/off_policy/vdn/config.hpp"

namespace troupe {

vdn_config::vdn_config() { algo = "vdn"; }

void describe(options_schema<vdn_config>& s) {
  describe_joint_q(s);
  describe_team(s);
}

}  // namespace troupe
