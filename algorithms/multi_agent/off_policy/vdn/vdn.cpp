#include "algorithms/multi_agent/off_policy/vdn/vdn.hpp"

#include <nlohmann/json.hpp>

#include "algorithms/multi_agent/off_policy/joint_q.hpp"
#include "algorithms/multi_agent/off_policy/vdn/learner.hpp"

namespace troupe {

algorithm algorithm_with(const vdn_config& config) {
  return joint_q_algorithm<vdn_learner>(config, false);
}

}  // namespace troupe
