#include "algorithms/multi_agent/on_policy/mappo/mappo.hpp"

#include "algorithms/multi_agent/on_policy/multi_agent_on_policy.hpp"

namespace troupe {

on_policy_learner make_learner(const network_shape& shape, const mappo_config& config) {
  return agent_ppo_learner(shape, config, "mappo");
}

algorithm algorithm_with(const mappo_config& config) {
  return multi_agent_on_policy_algorithm(config);
}

}  // namespace troupe
