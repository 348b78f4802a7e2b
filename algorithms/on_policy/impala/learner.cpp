#include "algorithms/on_policy/impala/learner.hpp"

#include <limits>

#include "algorithms/on_policy/ppo/learner.hpp"

namespace troupe {

on_policy_learner make_learner(const network_shape& shape, const impala_config& config) {
  auto options = whole_batch_options(config);
  options.n_epochs = config.trainer.n_epochs;
  ppo_options clipped;
  static_cast<on_policy_options&>(clipped) = options;
  clipped.clip_range = config.trainer.clip_range.value_or(std::numeric_limits<double>::infinity());
  clipped.clip_schedule = config.trainer.clip_schedule;
  auto loss = loss_of(clipped);
  loss.name = "impala";
  loss.policy_loss = on_policy_loss().policy_loss;
  return {shape, options, std::move(loss), config.seed};
}

}  // namespace troupe
