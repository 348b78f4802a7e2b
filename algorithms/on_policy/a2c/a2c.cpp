#include "algorithms/on_policy/a2c/a2c.hpp"

#include <nlohmann/json.hpp>

#include "algorithms/on_policy/a2c/learner.hpp"
#include "algorithms/on_policy/on_policy.hpp"

namespace troupe {

algorithm algorithm_with(const a2c_config& config) { return on_policy_algorithm(config); }

}  // namespace troupe
