#include "algorithms/multi_agent/on_policy/mappo/config.hpp"

namespace troupe {

mappo_config::mappo_config() {
  algo = "mappo";
  critic = central_input::state;
  set_multi_agent_defaults(*this);
}

void describe(options_schema<mappo_config>& s) {
  describe_multi_agent_on_policy(s);
  describe_ranks(s);
  s.field("critic", &mappo_config::critic)
      .help(
          "What the critic sees beside an agent's own observation: state is the environment's "
          "global state, observations are those of all agents, none is nothing, as in ippo.");
}

}  // namespace troupe
