#include "algorithms/on_policy/reinforce/learner.hpp"

namespace troupe {

on_policy_learner make_learner(const network_shape& shape, const reinforce_config& config) {
  const auto options = whole_batch_options(config);
  return {shape, options, policy_gradient_loss("reinforce", options), config.seed};
}

}  // namespace troupe
