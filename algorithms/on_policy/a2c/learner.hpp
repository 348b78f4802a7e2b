#pragma once
// A2C's learner: one gradient step on the whole batch, with the policy gradient. Mnih et al. 2016,
// https://arxiv.org/abs/1602.01783, section 4.

#include "algorithms/on_policy/a2c/config.hpp"
#include "algorithms/on_policy/learner.hpp"

namespace troupe {

/// The learner of a run. Throws std::invalid_argument that names the option if one is out of range.
on_policy_learner make_learner(const network_shape& shape, const a2c_config& config);

}  // namespace troupe
