#include "algorithms/multi_agent/off_policy/iql/iql.hpp"

#include <nlohmann/json.hpp>

#include "algorithms/multi_agent/off_policy/iql/learner.hpp"
#include "algorithms/multi_agent/off_policy/joint_q.hpp"

namespace troupe {

algorithm algorithm_with(const iql_config& config) {
  return joint_q_algorithm<iql_learner>(config, true);
}

}  // namespace troupe
