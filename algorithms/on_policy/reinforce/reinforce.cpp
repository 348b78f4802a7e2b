#include "algorithms/on_policy/reinforce/reinforce.hpp"

#include <nlohmann/json.hpp>

#include "algorithms/on_policy/reinforce/learner.hpp"
#include "algorithms/on_policy/on_policy.hpp"

namespace troupe {

trainable trainable_of(const reinforce_config& config) { return on_policy_algorithm(config); }

}  // namespace troupe
