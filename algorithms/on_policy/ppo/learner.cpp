#include "algorithms/on_policy/ppo/learner.hpp"

namespace troupe {

on_policy_loss loss_of(const ppo_options& options) {
  const auto clip_range = [start = options.clip_range, over = options.clip_schedule](double left) {
    return annealed(start, over, left);
  };
  const ppo_loss_options at_start{.clip_range = options.clip_range,
                                  .clip_range_vf = options.clip_range_vf,
                                  .clip_vf_loss = options.clip_vf_loss,
                                  .huber_delta = options.huber_delta,
                                  .ent_coef = options.ent_coef,
                                  .vf_coef = options.baseline ? options.vf_coef : 0.0,
                                  .importance_cap = options.importance_cap};
  const auto now = [at_start, clip_range](double left) {
    auto options = at_start;
    options.clip_range = clip_range(left);
    return options;
  };
  return {
      .name = "ppo",
      .policy_loss = "train/policy_gradient_loss",
      .function = [now](const ppo_loss_inputs& in, double left) { return ppo_loss(in, now(left)); },
      .clip_range = clip_range};
}

ppo_learner::ppo_learner(const network_shape& shape, const ppo_options& options, std::uint64_t seed)
    : on_policy_learner(shape, options, loss_of(checked_options(options, "ppo")), seed) {}

on_policy_learner make_learner(const network_shape& shape, const ppo_config& config) {
  return {shape, learner_options(config), loss_of(checked_options(config.trainer, "ppo")),
          config.seed};
}

}  // namespace troupe
