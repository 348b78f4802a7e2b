#include "algorithms/on_policy/a2c/learner.hpp"

namespace troupe {

on_policy_learner make_learner(const network_shape& shape, const a2c_config& config) {
  const auto options = whole_batch_options(config);
  return {shape, options, policy_gradient_loss("a2c", options), config.seed};
}

}  // namespace troupe
