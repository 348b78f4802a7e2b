#pragma once
// REINFORCE's learner: one gradient step on the whole episodes of a batch, with the policy gradient
// of returns. Williams 1992, https://doi.org/10.1007/BF00992696, equation 11.

#include "algorithms/on_policy/learner.hpp"
#include "algorithms/on_policy/reinforce/config.hpp"

namespace troupe {

/// The learner of a run. Throws std::invalid_argument that names the option if one is out of range.
on_policy_learner make_learner(const network_shape& shape, const reinforce_config& config);

}  // namespace troupe
