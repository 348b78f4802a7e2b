#include "algorithms/on_policy/reinforce/learner.hpp"

namespace troupe {

update_options update_options_of(const reinforce_config& config) {
  const auto& t = config.trainer;
  return {.lr = t.lr,
          .lr_schedule = t.lr_schedule,
          .batch_size = static_cast<int>(config.steps_of_update()),
          .n_epochs = 1,
          .gamma = t.gamma,
          .gae_lambda = 1.0,
          .normalize_advantage = t.normalize_returns,
          .max_grad_norm = t.max_grad_norm,
          .max_skipped_steps = t.max_skipped_steps,
          .baseline = t.baseline,
          .whole_episodes = true,
          .optimizer_eps = t.adam_eps,
          .network = config.network()};
}

on_policy_loss loss_of(const reinforce_options& options) {
  return policy_gradient_loss("reinforce", {.ent_coef = options.ent_coef,
                                            .vf_coef = options.baseline ? options.vf_coef : 0.0,
                                            .importance_cap = options.importance_cap});
}

reinforce_learner::reinforce_learner(const network_shape& shape, const reinforce_config& config,
                                     std::uint64_t seed)
    : on_policy_learner(shape, update_options_of(config), loss_of(config.trainer), seed) {}

}  // namespace troupe
