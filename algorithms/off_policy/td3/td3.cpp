#include "algorithms/off_policy/td3/td3.hpp"

#include <nlohmann/json.hpp>

namespace troupe {

algorithm algorithm_with(const td3_config& config) { return td3_algorithm(config); }
algorithm algorithm_with(const ddpg_config& config) { return td3_algorithm(config); }

}  // namespace troupe
