#include "algorithms/on_policy/reinforce/reinforce.hpp"

#include <nlohmann/json.hpp>

#include "algorithms/on_policy/on_policy.hpp"
#include "algorithms/on_policy/reinforce/learner.hpp"

namespace troupe {

algorithm algorithm_with(const reinforce_config& config) { return on_policy_algorithm(config); }

}  // namespace troupe
