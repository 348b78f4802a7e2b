#include "algorithms/language_models/grpo/grpo_idle_options.hpp"

#include <nlohmann/json.hpp>

#include "algorithms/language_models/grpo/grpo_defaults.hpp"

namespace troupe {

namespace {

bool has_deviation(advantage_kind kind) {
  return kind == advantage_kind::group_std || kind == advantage_kind::batch_std;
}

std::vector<idle_rule> rules_for(const grpo_config& c, const grpo_task& task) {
  const auto& o = c.trainer;
  const auto term = o.loss_term();
  const auto kind = o.correction_used();
  const bool world_in_python = task.world() && task.world()->blocks;
  const bool rewards_in_python = !c.python_rewards().functions.empty();
  return {
      {term != policy_term::clip,
       "only term clip clips the ratio",
       {"trainer.clip_low", "trainer.clip_high", "trainer.dual_clip"}},
      {term != policy_term::cispo, "only term cispo has such a bound", {"trainer.cispo_max"}},
      {term == policy_term::reinforce,
       "term reinforce has no ratio",
       {"trainer.ratio", "trainer.proximal"}},
      {!o.corrects(),
       "the ratio is taken to the weights that sampled, so there is nothing to correct",
       {"trainer.correction", "trainer.correction_by", "trainer.correction_max",
        "trainer.correction_min"}},
      {o.corrects() && kind == correction_kind::none,
       "correction is none",
       {"trainer.correction_by", "trainer.correction_max", "trainer.correction_min"}},
      {o.corrects() && kind == correction_kind::truncate,
       "correction is truncate, which has no smallest weight",
       {"trainer.correction_min"}},
      {o.penalty() == 0.0,
       "kl_coef is 0",
       {"trainer.kl_in", "trainer.kl", "trainer.reference_every_updates",
        "trainer.reference_mixup"}},
      {o.penalty() != 0.0 && o.reference_every_updates == 0,
       "reference_every_updates is 0",
       {"trainer.reference_mixup"}},
      {o.weight_decay == 0.0, "weight_decay is 0", {"trainer.weight_decay_of"}},
      {o.lora.rank > 0 && o.weight_decay != 0.0,
       "all parameters of LoRA adapters are matrices",
       {"trainer.weight_decay_of"}},
      {o.lora.rank == 0, "lora.rank is 0", {"trainer.lora.alpha", "trainer.lora.targets"}},
      {o.lora.rank > 0 && c.warm_start.batches != 0,
       "LoRA adapters have no moments of the warm start, which trains all weights",
       {"warm_start.keep_moments"}},
      {o.penalty() != 0.0 && o.kl_in == kl_place::reward,
       "a KL penalty in the reward always uses k1",
       {"trainer.kl"}},
      {!has_deviation(o.advantages()),
       "advantages are not divided by a deviation",
       {"trainer.advantage_eps"}},
      {o.zero_variance_rule_used() != o.zero_variance_groups.value_or(o.zero_variance_rule_used()),
       "with advantage reward, groups with equal rewards teach like others",
       {"trainer.zero_variance_groups"}},
      {c.mode == training_mode::sync,
       "mode is sync",
       {"rollout.workers", "rollout.max_staleness", "rollout.partial"}},
      {c.evaluation.every_updates == 0,
       "evaluation.every_updates is 0, so there is no evaluation during training",
       {"evaluation.stop_at", "evaluation.problems"}},
      {c.warm_start.batches == 0,
       "warm_start.batches is 0",
       {"warm_start.data", "warm_start.batch_size", "warm_start.lr", "warm_start.keep_moments"}},
      {c.model.path.empty(), "the model is not read from files", {"model.chat_template"}},
      {!c.model.path.empty(),
       "the model is read from files",
       {"model.tokens", "model.layers", "model.hidden_size", "model.max_positions"}},
      {c.model.path.empty(),
       "the small models have a format of their own",
       {"model.base_path", "model.chat_template", "model.thinking", "model.earlier_thoughts"}},
      {c.model.chat_template == "none",
       "model.chat_template is none",
       {"model.thinking", "model.earlier_thoughts"}},
      {c.model.is_letters(),
       "the letters model has a size of its own",
       {"model.layers", "model.hidden_size", "model.max_positions"}},
      {c.model.is_letters(),
       "the letters model reads only the problem itself",
       {"model.system_prompt", "task.shots"}},
      {!runs_code(part_of(c, task)),
       "the task runs no code",
       {"code.coders", "code.wall_s", "code.memory_mib", "code.processes", "code.first_user",
        "code.last_user"}},
      {!rewards_in_python, "no reward is in Python", {"python.workers", "python.reward_timeout"}},
      {!task.is_generated(), "the task is not in Python", {"python.prompt_timeout"}},
      {!world_in_python, "no world is in Python", {"python.world_timeout"}},
      {!rewards_in_python && !task.is_generated() && !world_in_python,
       "neither the reward nor the task is in Python",
       {"python.interpreter", "python.start_timeout", "python.memory_limit_mb"}},
      {task.is_generated(), "a generator in Python gives the problems", {"task.problems.size"}},
      {task.is_generated() && c.task.shots == 0 && !c.warm_start.shows_problems(),
       "training takes all items of the generator, and no warm start or shot shows any",
       {"task.problems.training"}},
      {!task.is_played(),
       "the task is no world",
       {"world.replicas", "world.turns", "world.malformed", "world.malformed_reward",
        "world.outcomes.win", "world.outcomes.push", "world.outcomes.loss", "world.history",
        "world.context", "world.shared_turns", "rollout.cache_mib"}},
      {!task.is_played() && !runs_code(part_of(c, task)),
       "the task is no world and runs no code",
       {"task.record", "task.replay"}},
      {!task.game(), "the task is no game", {"world.urls"}},
      {task.is_played() && c.task.data.empty(),
       "the deals of a world have no end",
       {"task.problems.size", "task.problems.training", "task.problems.held_out"}},
      {task.is_data(), "a file has the problems", {"task.problems.size"}},
      {c.task.data.empty(),
       "no file has the problems",
       {"task.prompt", "task.answer", "task.held_out_data", "task.level", "task.levels"}},
      idle_rule_of(c.checkpoint),
  };
}

}  // namespace

std::vector<idle_option> grpo_idle_options(const grpo_config& asked, const grpo_task& task) {
  return idle_options_of(asked, rules_for(completed(asked, task), task));
}

}  // namespace troupe
