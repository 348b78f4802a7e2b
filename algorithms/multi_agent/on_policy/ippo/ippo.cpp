#include "algorithms/multi_agent/on_policy/ippo/ippo.hpp"

#include "algorithms/multi_agent/on_policy/multi_agent_on_policy.hpp"

namespace troupe {

on_policy_learner make_learner(const network_shape& shape, const ippo_config& config) {
  return agent_ppo_learner(shape, config, "ippo");
}

algorithm algorithm_with(const ippo_config& config) {
  return multi_agent_on_policy_algorithm(config);
}

}  // namespace troupe
