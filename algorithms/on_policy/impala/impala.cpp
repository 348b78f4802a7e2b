#include "algorithms/on_policy/impala/impala.hpp"

#include <nlohmann/json.hpp>

#include "algorithms/on_policy/impala/learner.hpp"
#include "algorithms/on_policy/on_policy.hpp"

namespace troupe {

algorithm algorithm_with(const impala_config& config) { return on_policy_algorithm(config); }

}  // namespace troupe
