#include "algorithms/multi_agent/on_policy/coma/coma.hpp"

#include <nlohmann/json.hpp>

#include "algorithms/multi_agent/on_policy/coma/learner.hpp"
#include "algorithms/multi_agent/on_policy/joint_on_policy.hpp"

namespace troupe {

algorithm algorithm_with(const coma_config& config) {
  return joint_on_policy_algorithm(
      config, {.critic_loss = "train/critic_loss", .clips = false, .joint_actions = true});
}

}  // namespace troupe
