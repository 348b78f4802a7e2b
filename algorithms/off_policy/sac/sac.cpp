#include "algorithms/off_policy/sac/sac.hpp"

#include <nlohmann/json.hpp>

#include "algorithms/off_policy/off_policy_algorithm.hpp"

namespace troupe {

algorithm algorithm_with(const sac_config& c) {
  return algorithm_with(off_policy_algorithm_of<sac_learner>(c, network_kind::squashed_gaussian));
}

}  // namespace troupe
