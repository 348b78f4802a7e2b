#include "algorithms/on_policy/ppo/config.hpp"

namespace troupe {

void describe(enum_schema<value_clipping>& s) {
  s.name("clipped", value_clipping::clipped).name("larger", value_clipping::larger);
}

void describe(options_schema<ppo_options>& s) { describe_ppo(s); }

void describe(options_schema<ppo_config>& s) {
  describe_on_policy(s);
  describe_trainer(s);
}

}  // namespace troupe
