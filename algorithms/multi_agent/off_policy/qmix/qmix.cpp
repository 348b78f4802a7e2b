#include "algorithms/multi_agent/off_policy/qmix/qmix.hpp"

#include <nlohmann/json.hpp>

#include "algorithms/multi_agent/off_policy/joint_q.hpp"
#include "algorithms/multi_agent/off_policy/qmix/learner.hpp"

namespace troupe {

algorithm algorithm_with(const qmix_config& config) {
  return joint_q_algorithm<qmix_learner>(config, false, config.mixer);
}

}  // namespace troupe
