#include "algorithms/on_policy/ppo/learner.hpp"

#include <fmt/format.h>

namespace troupe {
namespace {

const ppo_options& checked(const ppo_options& options) {
  const auto expect = [](bool good, const char* name, double value, const char* expected) {
    if (good) return;
    throw std::invalid_argument(
        fmt::format("ppo option {}: {}, expected {}", name, value, expected));
  };
  expect(options.n_steps > 0, "n_steps", options.n_steps, ">= 1");
  expect(options.clip_range > 0.0, "clip_range", options.clip_range, "> 0");
  const double vf_range = options.clip_range_vf.value_or(1.0);
  expect(vf_range > 0.0, "clip_range_vf", vf_range, "> 0");
  expect(options.importance_cap > 0.0, "importance_cap", options.importance_cap, "> 0");
  return options;
}

}  // namespace

update_options update_options_of(const ppo_options& options) {
  return {.lr = options.lr,
          .lr_schedule = options.lr_schedule,
          .batch_size = options.batch_size,
          .n_epochs = options.n_epochs,
          .gamma = options.gamma,
          .gae_lambda = options.gae_lambda,
          .normalize_advantage = options.normalize_advantage,
          .max_grad_norm = options.max_grad_norm,
          .target_kl = options.target_kl,
          .proximal_correction = options.proximal_correction,
          .max_skipped_steps = options.max_skipped_steps,
          .baseline = options.baseline,
          .whole_episodes = options.whole_episodes,
          .optimizer = options.optimizer,
          .optimizer_eps = options.optimizer_eps,
          .rmsprop_alpha = options.rmsprop_alpha,
          .network = options.network};
}

on_policy_loss loss_of(const ppo_options& options) {
  const auto clip_range = [start = options.clip_range, over = options.clip_schedule](double left) {
    return annealed(start, over, left);
  };
  const ppo_loss_options at_start{.clip_range = options.clip_range,
                                  .clip_range_vf = options.clip_range_vf,
                                  .ent_coef = options.ent_coef,
                                  .vf_coef = options.baseline ? options.vf_coef : 0.0,
                                  .importance_cap = options.importance_cap};
  const auto now = [at_start, clip_range](double left) {
    auto options = at_start;
    options.clip_range = clip_range(left);
    return options;
  };
  return {.name = "ppo",
          .of_tensors = [now](const ppo_loss_inputs& in,
                              double left) { return ppo_loss(in, now(left)); },
          .of_rows = [now](const ppo_loss_rows& in, const ppo_loss_derivatives& out,
                           double left) { return ppo_loss_with_gradient(in, now(left), out); },
          .clip_range = clip_range};
}

ppo_learner::ppo_learner(const network_shape& shape, const ppo_options& options, std::uint64_t seed)
    : on_policy_learner(shape, update_options_of(checked(options)), loss_of(options), seed) {}

}  // namespace troupe
