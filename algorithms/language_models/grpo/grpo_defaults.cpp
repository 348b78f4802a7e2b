#include "algorithms/language_models/grpo/grpo_defaults.hpp"

#include <algorithm>

namespace troupe {

namespace {

template <class T>
void fill(std::optional<T>& option, T by_default) {
  if (!option) option = by_default;
}

/// The letters model learns from many prompts at once. Where many prompts share an answer, as with
/// sums of digits, the noise of a few prompts would otherwise move the answer for all of them.
void fill_for_problems(grpo_config& config, const grpo_task& task) {
  const bool letters = config.model.path.empty();
  const auto counts = counts_of(task, config);
  config.task.problems = {counts.size, counts.training, counts.held_out};
  // The items of a generator need not have right answers, which a warm start shows.
  fill(config.warm_start.batches, task.is_generated() ? 0 : letters ? 120 : 40);
  fill(config.warm_start.keep_moments, true);
  fill(config.rollout.prompts, letters ? 256 : 64);
  fill(config.rollout.group, letters ? 4 : 8);
  fill(config.trainer.variant, grpo_variant::cispo);
  fill(config.trainer.kl_coef, 0.0);
  fill(config.trainer.lr, letters ? 1e-4 : 1e-5);
  const auto warmup = letters ? std::min<std::int64_t>(20, config.total_steps / 2) : 0;
  fill(config.trainer.warmup_updates, static_cast<int>(warmup));
  fill(config.trainer.overlong_cache,
       config.trainer.overlong_tokens(config.rollout.max_completion_tokens));
}

/// The KL penalty keeps every move possible in games. With dr_grpo the gradients have norms of
/// 0.01, and up to 1 in the warm start, whose moments would make the updates too small.
void fill_for_games(grpo_config& config, const openenv::text_game& game) {
  const bool letters = config.model.path.empty();
  fill(config.game.turns, game.turns);
  fill(config.warm_start.batches, 40);
  fill(config.warm_start.keep_moments, false);
  fill(config.rollout.prompts, 64);
  fill(config.rollout.group, 8);
  fill(config.trainer.variant, grpo_variant::dr_grpo);
  fill(config.trainer.kl_coef, 0.1);
  fill(config.trainer.lr, letters ? 1e-3 : 1e-5);
  fill(config.trainer.warmup_updates, 0);
  fill(config.trainer.overlong_cache, std::int64_t{0});  // games have no limit on their tokens
}

}  // namespace

grpo_config completed(grpo_config config, const grpo_task& task) {
  if (task.game()) {
    fill_for_games(config, *task.game());
  } else {
    fill_for_problems(config, task);
  }
  fill(config.trainer.zero_variance_groups, config.trainer.zero_variance_rule_used());
  return config;
}

}  // namespace troupe
