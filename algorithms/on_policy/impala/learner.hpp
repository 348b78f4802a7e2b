#pragma once
// IMPALA's learner: V-trace targets (losses/vtrace.hpp) with the policy gradient, or with PPO's
// clipped surrogate.

#include "algorithms/on_policy/impala/config.hpp"
#include "algorithms/on_policy/learner.hpp"

namespace troupe {

/// The learner of a run. Throws std::invalid_argument that names the option if one is out of range.
on_policy_learner make_learner(const network_shape& shape, const impala_config& config);

}  // namespace troupe
