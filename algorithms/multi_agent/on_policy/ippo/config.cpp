#include "algorithms/multi_agent/on_policy/ippo/config.hpp"

namespace troupe {

ippo_config::ippo_config() {
  algo = "ippo";
  set_multi_agent_defaults(*this);
}

void describe(options_schema<ippo_config>& s) {
  describe_multi_agent_on_policy(s);
  describe_ranks(s);
}

}  // namespace troupe
