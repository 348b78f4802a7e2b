#include "algorithms/multi_agent/on_policy/ippo/ippo.hpp"

#include <nlohmann/json.hpp>

#include "algorithms/multi_agent/on_policy/joint_on_policy.hpp"

namespace troupe {

std::unique_ptr<joint_learner> make_learner(const network_shape& shape, const ippo_config& config) {
  return ppo_learners(shape, ppo_options_of(config), config.trained(shape), config.seed, "ippo");
}

algorithm algorithm_with(const ippo_config& config) { return joint_on_policy_algorithm(config); }

}  // namespace troupe
