#include "algorithms/multi_agent/off_policy/iql/config.hpp"

namespace troupe {

iql_config::iql_config() { algo = "iql"; }

void describe(options_schema<iql_config>& s) { describe_joint_q(s); }

}  // namespace troupe
