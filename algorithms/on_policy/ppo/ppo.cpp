#include "algorithms/on_policy/ppo/ppo.hpp"

#include <nlohmann/json.hpp>

#include "algorithms/on_policy/on_policy.hpp"
#include "algorithms/on_policy/ppo/learner.hpp"

namespace troupe {

algorithm algorithm_with(const ppo_config& config) { return on_policy_algorithm(config); }

}  // namespace troupe
