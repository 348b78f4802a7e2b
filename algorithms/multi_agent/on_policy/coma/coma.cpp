#include "algorithms/multi_agent/on_policy/coma/coma.hpp"

#include <nlohmann/json.hpp>

#include "algorithms/multi_agent/on_policy/coma/learner.hpp"
#include "algorithms/multi_agent/on_policy/multi_agent_on_policy.hpp"

namespace troupe {

algorithm algorithm_with(const coma_config& config) {
  constexpr bool joint_actions = true;
  return multi_agent_on_policy_algorithm(config, joint_actions);
}

}  // namespace troupe
