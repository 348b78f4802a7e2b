#include "algorithms/on_policy/impala/learner.hpp"

#include "algorithms/on_policy/ppo/learner.hpp"

namespace troupe {

on_policy_learner make_learner(const network_shape& shape, const impala_config& config) {
  auto options = whole_batch_options(config);
  options.n_epochs = config.trainer.n_epochs;
  auto loss = loss_of(config.trainer);
  loss.name = "impala";
  return {shape, options, std::move(loss), config.seed};
}

}  // namespace troupe
