#include "algorithms/language_models/grpo/grpo_defaults.hpp"

#include <algorithm>
#include <filesystem>

namespace troupe {

namespace {

template <class T>
void fill(std::optional<T>& option, T by_default) {
  if (!option) option = by_default;
}

/// Adapters learn best with about ten times the step size of all weights (Schulman et al. 2025,
/// https://thinkingmachines.ai/blog/lora/).
void fill_lr(grpo_options& options, double of_all_weights) {
  fill(options.lr, options.lora.rank > 0 ? 10 * of_all_weights : of_all_weights);
}

/// The letters model learns from many prompts at once. Where many prompts share an answer, as with
/// sums of digits, the noise of a few prompts would otherwise move the answer for all of them.
void fill_for_problems(grpo_config& config, const grpo_task& task) {
  const bool letters = config.model.is_letters();
  // The items of a generator and the lines of a file need not have right answers, which a warm
  // start shows.
  const bool shows = !config.warm_start.data.empty() || (!task.is_generated() && !task.is_data());
  fill(config.warm_start.batches, !shows ? 0 : letters ? 120 : 40);
  fill(config.warm_start.keep_moments, true);
  fill(config.rollout.prompts, letters ? 256 : 64);
  fill(config.rollout.group, letters ? 4 : 8);
  fill(config.trainer.variant, grpo_variant::cispo);
  fill(config.trainer.kl_coef, 0.0);
  fill_lr(config.trainer, letters ? 1e-4 : config.model.path.empty() ? 3e-4 : 1e-5);
  const auto warmup = letters ? std::min<std::int64_t>(20, config.total_steps / 2) : 0;
  fill(config.trainer.warmup_updates, static_cast<int>(warmup));
  fill(config.trainer.overlong_cache,
       config.trainer.overlong_tokens(config.rollout.max_completion_tokens));
}

/// The KL penalty keeps every reply possible in worlds. With dr_grpo the gradients have norms of
/// 0.01, and up to 1 in the warm start, whose moments would make the updates too small.
void fill_for_worlds(grpo_config& config, const grpo_task& task) {
  const bool practises =
      task.game() ? bool(task.game()->view.practise) : bool(task.world()->practise);
  fill(config.warm_start.batches, practises || !config.warm_start.data.empty() ? 40 : 0);
  fill(config.warm_start.keep_moments, false);
  fill(config.rollout.prompts, 64);
  fill(config.rollout.group, 8);
  fill(config.trainer.variant, grpo_variant::dr_grpo);
  fill(config.trainer.kl_coef, 0.1);
  fill_lr(config.trainer, config.model.path.empty() ? 1e-3 : 1e-5);
  fill(config.trainer.warmup_updates, 0);
  fill(config.trainer.overlong_cache, std::int64_t{0});  // worlds have no limit on their tokens
}

/// The options of a task's own.
void fill_for_task(grpo_config& config, const grpo_task& task) {
  const auto counts = counts_of(task, config);
  auto& section = config.task;
  section.name = task.name();
  section.problems = {counts.size, counts.training, counts.held_out};
  section.kind = {.is_played = task.is_played(),
                  .is_game = task.game() != nullptr,
                  .is_generated = task.is_generated(),
                  .has_file = task.file() != nullptr,
                  .runs_code = runs_code({task, config}),
                  .world_in_python = task.world() && task.world()->blocks};
  for (auto* file : {&section.data, &section.held_out_data, &section.record, &section.replay})
    if (!file->empty()) *file = std::filesystem::absolute(*file).string();
  if (!task.is_played()) return;
  fill(config.world.turns, task.turns());
  fill(config.world.replicas, task.world() && task.world()->blocks ? 8 : 64);
}

}  // namespace

grpo_config completed(grpo_config config, std::vector<grpo_part>& parts) {
  const auto& first = parts.front().task;
  const auto of_letters = [](const grpo_part& part) { return part.task.has_letters(); };
  fill(config.model.tokens,
       std::ranges::all_of(parts, of_letters) ? small_model::letters : small_model::bytes);
  first.is_played() ? fill_for_worlds(config, first) : fill_for_problems(config, first);
  fill(config.trainer.zero_variance_groups, config.trainer.zero_variance_rule_used());
  std::int64_t most = 100;
  for (auto& part : parts) {
    if (!part.task.file()) continue;
    const bool together = detail::judges_training(part.task, part.config);
    const auto asked = together ? std::ssize(problems_of(part.task, part.config).held_out)
                                : counts_of(part.task, part.config).held_out / 2;
    most = std::clamp<std::int64_t>(asked, 1, most);
  }
  fill(config.evaluation.problems, most);
  fill(config.evaluation.final_problems, most);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    auto& part = parts[i];
    auto section = std::move(part.config.task);
    part.config = config;
    part.config.tasks.clear();
    part.config.task = std::move(section);
    fill_for_task(part.config, part.task);
    if (!config.tasks.empty()) config.tasks[i] = part.config.task;
  }
  if (config.tasks.empty()) {
    config.task = parts.front().config.task;
    config.world = parts.front().config.world;
  }
  return config;
}

grpo_config completed(grpo_config config, const grpo_task& task) {
  std::vector<grpo_part> parts{part_of(config, task)};
  config.tasks.clear();
  return completed(std::move(config), parts);
}

}  // namespace troupe
