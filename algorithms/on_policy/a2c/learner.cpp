#include "algorithms/on_policy/a2c/learner.hpp"

namespace troupe {

update_options update_options_of(const a2c_config& config) {
  const auto& t = config.trainer;
  return {.lr = t.lr,
          .lr_schedule = t.lr_schedule,
          .batch_size = static_cast<int>(config.steps_of_update()),
          .n_epochs = 1,
          .gamma = t.gamma,
          .gae_lambda = t.gae_lambda,
          .normalize_advantage = t.normalize_advantage,
          .max_grad_norm = t.max_grad_norm,
          .max_skipped_steps = t.max_skipped_steps,
          .optimizer = t.optimizer,
          .optimizer_eps = t.optimizer_eps,
          .rmsprop_alpha = t.rmsprop_alpha,
          .network = config.network()};
}

on_policy_loss loss_of(const a2c_options& options) {
  return policy_gradient_loss("a2c", {.ent_coef = options.ent_coef,
                                      .vf_coef = options.vf_coef,
                                      .importance_cap = options.importance_cap});
}

a2c_learner::a2c_learner(const network_shape& shape, const a2c_config& config, std::uint64_t seed)
    : on_policy_learner(shape, update_options_of(config), loss_of(config.trainer), seed) {}

}  // namespace troupe
