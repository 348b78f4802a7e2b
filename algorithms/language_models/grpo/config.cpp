#include "algorithms/language_models/grpo/config.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "actors/llm/tasks/named_rewards.hpp"
#include "actors/sandbox/sandbox_options.hpp"
#include "algorithms/language_models/grpo/grpo_task.hpp"

namespace troupe {

namespace {

/// The least code.memory_mib for programs of so many processes.
std::int64_t memory_needed_mib(const grpo_code_section& c) {
  return (sandbox_memory_min(c.processes) + (1 << 20) - 1) >> 20;
}

/// The smallest last_user that gives each coder a pair of user numbers. A pair begins with an even
/// number.
std::int64_t last_user_needed(const grpo_code_section& c) {
  return (c.first_user + 1) / 2 * 2 + 2 * std::int64_t{c.coders} - 1;
}

/// True if each text names a reward, and none is there twice.
bool are_rewards(const std::vector<std::string>& texts) {
  try {
    std::set<std::string> names;
    for (const auto& text : texts) {
      names.insert(text);
      if (llm::is_python_reward(text)) {
        python_function_of(text);
      } else {
        llm::named_reward(text);
      }
    }
    return names.size() == texts.size();
  } catch (const std::invalid_argument&) {
    return false;
  }
}

constexpr const char* rewards_expected =
    "exact, numeric, contains, contains:FIELD, length:MAX, format:think, format:json, "
    "format:TAG,TAG, pattern:REGEX, tests or python:MODULE:FUNCTION, each once";

python_options options_of(const grpo_python_section& python) {
  return {.interpreter = python.interpreter,
          .start_timeout = python.start_timeout,
          .memory_limit_mb = python.memory_limit_mb};
}

}  // namespace

std::string grpo_task_section::label() const {
  if (name != grpo_task_section().name || (data.empty() && world.empty())) return name;
  return world.empty() ? std::filesystem::path(data).stem().string() : world;
}

bool grpo_config::runs_python() const {
  const auto is_parquet = [](const std::string& file) { return file.ends_with(".parquet"); };
  return !python_rewards().functions.empty() || task.kind.is_generated ||
         task.kind.world_in_python || is_parquet(task.data) || is_parquet(task.held_out_data);
}

llm::data_fields grpo_config::data_fields() const {
  const bool compares = task.reward.empty() || std::ranges::any_of(task.reward, llm::needs_answer);
  return {.prompt = task.prompt,
          .answer = task.answer,
          .needs_answer = task.world.empty() && compares,
          .level = task.level,
          .levels = task.levels,
          .python = options_of(python)};
}

double grpo_outcomes_section::reward(double world_return) const {
  const auto& chosen = world_return > 0 ? win : world_return < 0 ? loss : push;
  return chosen.value_or(world_return);
}

python_reward_options grpo_config::python_rewards() const {
  python_reward_options options{.functions = {},
                                .weights = {},
                                .timeout = python.reward_timeout,
                                .python = options_of(python)};
  for (std::size_t i = 0; i < task.reward.size(); ++i) {
    if (!llm::is_python_reward(task.reward[i])) continue;
    options.functions.push_back(python_function_of(task.reward[i]));
    options.weights.push_back(task.reward_weights.empty() ? 1 : task.reward_weights[i]);
  }
  return options;
}

python_text_options grpo_config::python_world() const {
  return {.world = task.world,
          .options = task.world_options.text,
          .timeout = python.world_timeout,
          .python = options_of(python)};
}

python_dataset_options grpo_config::python_items(const std::string& generator) const {
  return {.function = generator,
          .seed = seed,
          .timeout = python.prompt_timeout,
          .python = options_of(python)};
}

llm::sampling_options grpo_rollout_section::sampling() const {
  return {.temperature = temperature,
          .top_k = top_k,
          .top_p = top_p,
          .min_p = min_p,
          .repetition_penalty = repetition_penalty};
}

grpo_loss_options grpo_options::loss() const {
  auto options = preset().loss;
  options.term = loss_term();
  options.ratio = ratio.value_or(options.ratio);
  options.aggregation = aggregation.value_or(options.aggregation);
  options.clip.low = clip_low.value_or(options.clip.low);
  options.clip.high = clip_high.value_or(options.clip.high);
  if (dual_clip > 0) options.clip.dual = dual_clip;
  options.cispo_max = cispo_max;
  if (corrects()) {
    options.correction = {.kind = correction_used(),
                          .level = correction_by,
                          .max = correction_max,
                          .min = correction_min};
  }
  options.kl_coef = kl_in == kl_place::loss ? penalty() : 0.0;
  options.kl = kl;
  options.entropy_coef = entropy_coef;
  return options;
}

zero_variance_rule grpo_options::zero_variance_rule_used() const {
  // Without a baseline, groups with equal rewards teach as other groups do.
  if (advantages() == advantage_kind::reward) return zero_variance_rule::keep;
  return zero_variance_groups.value_or(preset().dynamic_sampling ? zero_variance_rule::refill
                                                                 : zero_variance_rule::keep);
}

std::int64_t grpo_options::overlong_tokens(std::int64_t max_completion_tokens) const {
  if (overlong_cache) return *overlong_cache;
  const double share = preset().overlong_share;
  if (share == 0.0) return 0;
  return std::max<std::int64_t>(1,
                                std::llround(share * static_cast<double>(max_completion_tokens)));
}

bool grpo_options::recomputes() const {
  if (loss_term() == policy_term::reinforce) return false;  // this term has no ratio
  if (proximal == proximal_policy::automatic) return epochs * minibatches > 1;
  return proximal == proximal_policy::recomputed;
}

bool grpo_options::corrects() const {
  return recomputes() || loss_term() == policy_term::reinforce;
}

correction_kind grpo_options::correction_used() const {
  const bool reinforce = loss_term() == policy_term::reinforce;
  return correction.value_or(reinforce ? correction_kind::truncate : correction_kind::mask);
}

void describe(enum_schema<grpo_variant>& s) {
  s.name("grpo", grpo_variant::grpo)
      .name("dr_grpo", grpo_variant::dr_grpo)
      .name("dapo", grpo_variant::dapo)
      .name("gspo", grpo_variant::gspo)
      .name("cispo", grpo_variant::cispo)
      .name("rloo", grpo_variant::rloo)
      .name("reinforce", grpo_variant::reinforce);
}

void describe(enum_schema<advantage_kind>& s) {
  s.name("group_std", advantage_kind::group_std)
      .name("group_mean", advantage_kind::group_mean)
      .name("batch_std", advantage_kind::batch_std)
      .name("leave_one_out", advantage_kind::leave_one_out)
      .name("reward", advantage_kind::reward);
}

void describe(enum_schema<policy_term>& s) {
  s.name("clip", policy_term::clip)
      .name("cispo", policy_term::cispo)
      .name("reinforce", policy_term::reinforce);
}

void describe(enum_schema<ratio_level>& s) {
  s.name("token", ratio_level::token).name("sequence", ratio_level::sequence);
}

void describe(enum_schema<loss_aggregation>& s) {
  s.name("token_mean", loss_aggregation::token_mean)
      .name("sequence_mean", loss_aggregation::sequence_mean)
      .name("sequence_sum", loss_aggregation::sequence_sum)
      .name("constant_length", loss_aggregation::constant_length);
}

void describe(enum_schema<correction_kind>& s) {
  s.name("none", correction_kind::none)
      .name("truncate", correction_kind::truncate)
      .name("mask", correction_kind::mask);
}

void describe(enum_schema<correction_level>& s) {
  s.name("token", correction_level::token).name("sequence", correction_level::sequence);
}

void describe(enum_schema<kl_kind>& s) {
  s.name("k1", kl_kind::k1).name("k2", kl_kind::k2).name("k3", kl_kind::k3);
}

void describe(enum_schema<kl_place>& s) {
  s.name("loss", kl_place::loss).name("reward", kl_place::reward);
}

void describe(enum_schema<proximal_policy>& s) {
  s.name("auto", proximal_policy::automatic)
      .name("behaviour", proximal_policy::behaviour)
      .name("recomputed", proximal_policy::recomputed);
}

void describe(enum_schema<zero_variance_rule>& s) {
  s.name("keep", zero_variance_rule::keep)
      .name("drop", zero_variance_rule::drop)
      .name("refill", zero_variance_rule::refill);
}

namespace {

bool clips(const grpo_options& o) { return o.loss_term() == policy_term::clip; }
bool has_ratio(const grpo_options& o) { return o.loss_term() != policy_term::reinforce; }
bool has_penalty(const grpo_options& o) { return o.penalty() != 0; }
bool divides(const grpo_options& o) {
  return o.advantages() == advantage_kind::group_std || o.advantages() == advantage_kind::batch_std;
}

// What a condition says in messages and help texts.
constexpr const char* if_clips = "trainer.term is clip";
constexpr const char* if_has_ratio = "trainer.term is not reinforce";
constexpr const char* if_has_penalty = "trainer.kl_coef is above 0";
constexpr const char* if_corrects =
    "either trainer.proximal is recomputed or trainer.term is reinforce";
constexpr const char* if_weighs = "trainer.correction is not none";

void describe_loss(options_schema<grpo_options>& s) {
  s.field("variant", &grpo_options::variant)
      .help(
          "The published algorithm whose values fill the options that are null. null means cispo, "
          "and dr_grpo for games.");
  s.field("advantage", &grpo_options::advantage)
      .help(
          "The baseline that is subtracted from a reward, and the deviation by which the "
          "difference is divided. null means the variant's.");
  s.field("term", &grpo_options::term).help("The loss of one token. null means the variant's.");
  s.field("ratio", &grpo_options::ratio)
      .has_effect_if(if_has_ratio, has_ratio)
      .help(
          "The level of the probability ratio: by token, or over the whole answer (GSPO). null "
          "means the variant's.");
  s.field("aggregation", &grpo_options::aggregation)
      .also_known_as({"loss_type", "loss_agg_mode"})
      .help("The reduction of the tokens' losses to one number. null means the variant's.");
  s.field("clip_low", &grpo_options::clip_low)
      .has_effect_if(if_clips, clips)
      .also_known_as({"epsilon", "clip_ratio", "clip_ratio_low"})
      .at_least(0)
      .below(1)
      .help("The ratio is clipped below at 1 - clip_low. null means the variant's.");
  s.field("clip_high", &grpo_options::clip_high)
      .has_effect_if(if_clips, clips)
      .also_known_as({"epsilon_high", "clip_ratio_high"})
      .at_least(0)
      .help("The ratio is clipped above at 1 + clip_high. null means the variant's.");
  s.field("dual_clip", &grpo_options::dual_clip)
      .has_effect_if(if_clips, clips)
      .also_known_as({"clip_ratio_c"})
      .at_least(0)
      .help(
          "A token with a negative advantage A costs at most -A times this, which is above 1. 0 "
          "means no such bound.");
  s.field("cispo_max", &grpo_options::cispo_max)
      .above(0)
      .has_effect_if("trainer.term is cispo",
                     [](const grpo_options& o) { return o.loss_term() == policy_term::cispo; })
      .help("The largest ratio that the loss uses.");
  s.field("advantage_eps", &grpo_options::advantage_eps)
      .has_effect_if("trainer.advantage is group_std or batch_std", divides)
      .at_least(0)
      .help(
          "The constant that is added to the standard deviation by which advantages are divided.");
  s.field("proximal", &grpo_options::proximal)
      .has_effect_if(if_has_ratio, has_ratio)
      .help(
          "The policy that the ratio is taken to. behaviour means the weights that sampled; "
          "recomputed means the weights that the update begins with, which takes one more forward "
          "pass (decoupled PPO). auto means recomputed if epochs * minibatches > 1, and behaviour "
          "otherwise.");
  const auto corrects = [](const grpo_options& o) { return o.corrects(); };
  const auto weighs = [](const grpo_options& o) {
    return o.correction_used() != correction_kind::none;
  };
  s.field("correction", &grpo_options::correction)
      .has_effect_if(if_corrects, corrects)
      .help(
          "The bound on importance weights. Tokens are weighted by proximal / sampling "
          "probability with recomputed, and by current / sampling probability with term "
          "reinforce. truncate lowers larger weights to correction_max, mask leaves out tokens "
          "whose weight is below correction_min or above correction_max, and none sets all "
          "weights to 1. null means truncate for term reinforce, and mask otherwise.");
  s.field("correction_by", &grpo_options::correction_by)
      .has_effect_if(if_weighs, weighs)
      .has_effect_if(if_corrects, corrects)
      .help("The level of importance weights: by token, or over the whole answer.");
  s.field("correction_max", &grpo_options::correction_max)
      .has_effect_if(if_weighs, weighs)
      .has_effect_if(if_corrects, corrects)
      .above(0)
      .help("The largest importance weight.");
  s.field("correction_min", &grpo_options::correction_min)
      .at_least(0)
      .has_effect_if(
          "trainer.correction is mask",
          [](const grpo_options& o) { return o.correction_used() == correction_kind::mask; })
      .has_effect_if(if_corrects, corrects)
      .help("The smallest importance weight.");
  s.rule("dual_clip", "0 or a number > 1, as the ratio of fresh answers is 1",
         [](const grpo_options& o) { return o.dual_clip == 0 || o.dual_clip > 1; });
  s.rule(
      "correction_min",
      [](const grpo_options& o) {
        return fmt::format("at most correction_max, {}", o.correction_max);
      },
      [](const grpo_options& o) { return o.correction_min <= o.correction_max; });
  s.field("kl_coef", &grpo_options::kl_coef)
      .also_known_as({"beta", "kl_beta", "kl_loss_coef"})
      .at_least(0)
      .help(
          "The weight of the KL divergence from the reference, which is the first weights. 0 means "
          "no penalty, and the first weights are not kept. null means 0, and 0.1 for games.");
  s.field("kl_in", &grpo_options::kl_in)
      .has_effect_if(if_has_penalty, has_penalty)
      .help("The place of the KL penalty: the loss or the reward.");
  s.field("kl", &grpo_options::kl)
      .has_effect_if(if_has_penalty, has_penalty)
      .has_effect_if("trainer.kl_in is loss",
                     [](const grpo_options& o) { return o.kl_in == kl_place::loss; })
      .help("The estimator of the KL divergence. A penalty in the reward always uses k1.");
  s.field("reference_every_updates", &grpo_options::reference_every_updates)
      .has_effect_if(if_has_penalty, has_penalty)
      .also_known_as({"ref_model_sync_steps", "sync_ref_model"})
      .at_least(0)
      .unit("updates")
      .help(
          "The number of updates between those after which the reference of the KL divergence is "
          "mixed with the current weights (TR-DPO). 0 means that it stays as it is.");
  s.field("reference_mixup", &grpo_options::reference_mixup)
      .has_effect_if(if_has_penalty, has_penalty)
      .has_effect_if("trainer.reference_every_updates is above 0",
                     [](const grpo_options& o) { return o.reference_every_updates > 0; })
      .also_known_as({"ref_model_mixup_alpha"})
      .above(0)
      .at_most(1)
      .help(
          "The share of the current weights in the new reference; the rest is that of the old one. "
          "1 means that the current weights become the reference.");
  s.field("entropy_coef", &grpo_options::entropy_coef)
      .also_known_as({"ent_coef", "entropy_coeff"})
      .at_least(0)
      .help(
          "The weight of the entropy bonus, which is the mean over trained tokens of the entropy "
          "of the whole distribution at rollout.temperature. 0 means no bonus.");
  s.rule("reference_every_updates",
         "0 where lora.rank is above 0, as the reference is then the model without adapters",
         [](const grpo_options& o) { return o.lora.rank == 0 || o.reference_every_updates == 0; });
}

void describe_learning(options_schema<grpo_options>& s) {
  s.field("zero_variance_groups", &grpo_options::zero_variance_groups)
      .has_effect_if("trainer.advantage is not reward",
                     [](const grpo_options& o) {
                       const auto used = o.zero_variance_rule_used();
                       return used == o.zero_variance_groups.value_or(used);
                     })
      .renamed_from("flat_groups")
      .also_known_as({"filter_groups", "dynamic_sampling"})
      .help(
          "The treatment of groups whose answers all have the same reward, which teach nothing: "
          "keep, drop, or refill (another prompt is asked instead). null means keep, and refill "
          "for variant dapo.");
  s.field("mask_truncated", &grpo_options::mask_truncated)
      .also_known_as({"mask_truncated_completions", "overlong_filtering"})
      .help(
          "true leaves answers that reached the token limit out of training. They still count in "
          "the group's mean, and as answers in the mean of the loss.");
  s.field("overlong_cache", &grpo_options::overlong_cache)
      .also_known_as({"soft_punish_cache", "overlong_buffer_len"})
      .at_least(0)
      .unit("tokens")
      .help(
          "The reward falls by up to 1 over this many tokens before the answer's token limit "
          "(DAPO's soft overlong punishment). 0 means that it does not fall. null means 0, and a "
          "fifth of rollout.max_completion_tokens for variant dapo, except in games.");
  s.field("lr", &grpo_options::lr)
      .also_known_as({"learning_rate"})
      .above(0)
      .help(
          "AdamW's step size. null means 1e-5 for chat models; for the letters model it means "
          "1e-4 on problems and 1e-3 in games. With lora.rank above 0 it means ten times that.");
  s.field("lr_schedule", &grpo_options::lr_schedule)
      .help(
          "The step size after the warm-up. linear falls to 0 at the end, as the linear schedule "
          "of transformers does: of three updates the first has a step size of lr, and the last a "
          "third of it.");
  s.field("warmup_updates", &grpo_options::warmup_updates)
      .at_least(0)
      .unit("updates")
      .help(
          "The length of the warm-up, during which the step size rises linearly from 0 at the "
          "first update to lr, as in transformers. It must be below total_steps. null means 0; "
          "for the letters model on problems it means 20, or half of total_steps if that is less.");
  s.field("epochs", &grpo_options::epochs)
      .also_known_as({"num_iterations", "ppo_epochs"})
      .at_least(1)
      .at_most(64)
      .help("The number of passes over each batch.");
  s.field("minibatches", &grpo_options::minibatches)
      .at_least(1)
      .at_most(1024)
      .help("The number of optimiser steps in one pass. It must divide rollout.prompts.");
  s.field("micro_tokens", &grpo_options::micro_tokens)
      .at_least(1)
      .unit("tokens")
      .help(
          "The most tokens in one forward pass, which takes whole groups. A smaller number takes "
          "less memory and does not change the result.");
  s.field("lora", &grpo_options::lora)
      .also_known_as({"use_peft", "peft_config"})
      .help("Low-rank adapters, which generators and written models have merged.");
  describe_adamw(s);
}

}  // namespace

void describe(options_schema<grpo_options>& s) {
  describe_loss(s);
  describe_learning(s);
}

void describe(options_schema<grpo_problems_section>& s) {
  s.field("size", &grpo_problems_section::size)
      .at_least(1)
      .at_most(9)
      .unit("digits or letters")
      .help(
          "The size of a problem; larger problems are harder. null means 3, and 4 for sum_digits "
          "and reversed_text.");
  s.field("training", &grpo_problems_section::training)
      .at_least(1)
      .at_most(1'000'000)
      .help(
          "The number of different problems to train on. null means 700, and 7500 for sum_digits.");
  s.field("held_out", &grpo_problems_section::held_out)
      .at_least(0)
      .at_most(1'000'000)
      .help(
          "The number of other problems, which are only used for evaluation. null means 200, 1500 "
          "for sum_digits, and for a file a tenth of its different prompts, at least 2 and at most "
          "200, and none of fewer than 4. 0 is for files: evaluations ask the problems that are "
          "trained on.");
}

void describe(options_schema<grpo_task_section>& s) {
  // There is no list of allowed names, since a program can have tasks of its own.
  s.field("name", &grpo_task_section::name)
      .help(fmt::format(
          "The name of the task: {}, or python:MODULE:FUNCTION for the items of a generator in "
          "Python. A file or a world is named after itself where no other name is given.",
          fmt::join(known_task_names(), ", ")));
  s.field("data", &grpo_task_section::data)
      .help(
          "A JSON Lines or Parquet file with the problems, or with the items of the episodes in a "
          "world. Empty means none.");
  s.field("prompt", &grpo_task_section::prompt)
      .help(
          "The field of the file's lines with the prompt, a text or a list of messages; or a "
          "template with fields in braces, such as \"{context} {question}\".");
  s.field("answer", &grpo_task_section::answer)
      .help("The field of the file's lines with the right answer, a text or a number.");
  s.field("held_out_data", &grpo_task_section::held_out_data)
      .help(
          "A file with the problems that are only used for evaluation. Empty means "
          "task.problems.held_out lines of the file, which are drawn from the seed.");
  s.field("level", &grpo_task_section::level)
      .help("The field of the file's lines with their level, for a curriculum.");
  s.field("levels", &grpo_task_section::levels)
      .items(0, 1024)
      .example("[easy,hard]")
      .help("The levels that are texts, from the easiest. Numbers need no list.");
  s.field("curriculum", &grpo_task_section::curriculum)
      .help(
          "A curriculum over the levels of the file: the next one begins once enough answers are "
          "right. null asks problems of all levels.");
  s.field("world", &grpo_task_section::world)
      .help(
          "A text world that the model plays: openenv:URL or openenv:URL,URL for OpenEnv servers, "
          "skyrl:ID for an environment of skyrl-gym, module:Class for one in Python, or the name "
          "of "
          "one that is known. Empty means none.");
  s.field("world_options", &grpo_task_section::world_options)
      .help("The arguments of the world, which its documentation names.");
  s.field("record", &grpo_task_section::record)
      .help(
          "A file that all episodes in the world, or all runs of code, are appended to, in JSON "
          "Lines, for task.replay. Empty means none.");
  s.field("replay", &grpo_task_section::replay)
      .help(
          "A file of task.record. The world answers as it did there, and is not asked itself; code "
          "has the results that it had there, and is not run. Empty means none.");
  s.field("reward", &grpo_task_section::reward)
      .also_known_as({"reward_funcs"})
      .items(0, reward_functions_max)
      .example("[exact,length:200]")
      .help(std::string("The rewards, which add up: ") + rewards_expected +
            ". [] means those of the option reward, or else the task's own: exact for a file.");
  s.field("reward_weights", &grpo_task_section::reward_weights)
      .items(0, reward_functions_max)
      .example("[1,0.2]")
      .help("The weights of these rewards; [] means 1 each.");
  s.rule("reward", rewards_expected,
         [](const grpo_task_section& of) { return are_rewards(of.reward); });
  s.rule("reward_weights", "[], or a weight for each of task.reward",
         [](const grpo_task_section& of) {
           return of.reward_weights.empty() || of.reward_weights.size() == of.reward.size();
         });
  s.field("share", &grpo_task_section::share)
      .above(0)
      .help("The task's share of the groups, relative to the other ones of tasks.");
  s.field("problems", &grpo_task_section::problems)
      .help("The problems of the task, which are drawn from the seed.");
  s.field("shots", &grpo_task_section::shots)
      .at_least(0)
      .at_most(64)
      .help(
          "The number of solved training problems that a chat model is shown before the problem "
          "that it is asked.");
}

void describe(options_schema<grpo_python_section>& s) {
  describe_python(s, "interpreter", &grpo_python_section::interpreter,
                  &grpo_python_section::memory_limit_mb, "rewards, tasks and worlds");
  s.field("workers", &grpo_python_section::workers)
      .at_least(1)
      .at_most(1024)
      .help("The number of processes that compute rewards in Python.");
  describe_timeout(s, "start_timeout", &grpo_python_section::start_timeout)
      .help(
          "How long a process may take to import the functions, and to skip the items that a "
          "resumed run has had.");
  describe_timeout(s, "reward_timeout", &grpo_python_section::reward_timeout)
      .help(
          "How long a reward function may take for an answer, which is then dropped. A call for "
          "several answers that takes so long is given up, and they are judged one by one.");
  describe_timeout(s, "prompt_timeout", &grpo_python_section::prompt_timeout)
      .help("How long the next item of a task in Python may take before its process is ended.");
  describe_timeout(s, "world_timeout", &grpo_python_section::world_timeout)
      .help(
          "How long a reset or a step of a world in Python may take before its process is ended.");
}

void describe(options_schema<grpo_code_section>& s) {
  s.field("coders", &grpo_code_section::coders)
      .at_least(1)
      .at_most(1024)
      .help("The number of programs that run at the same time.");
  s.field("wall_s", &grpo_code_section::wall_s)
      .above(0)
      .at_most(86'400)
      .unit("seconds")
      .help("The wall time after which a program is killed.");
  s.field("memory_mib", &grpo_code_section::memory_mib)
      .at_least(64)
      .at_most(1 << 20)
      .unit("MiB")
      .help(
          "The memory of a program, of all its processes and files together: at least 32 and 64 "
          "more for each of code.processes. Without a sandbox it is the address space of each "
          "process.");
  s.field("processes", &grpo_code_section::processes)
      .at_least(1)
      .at_most(4096)
      .help(
          "The number of processes and threads that a program may have at the same time, itself "
          "included. Without a sandbox, more than 1 requires a trainer that runs as root.");
  s.field("first_user", &grpo_code_section::first_user)
      .at_least(1000)
      .at_most(4'294'967'294)
      .help(
          "The first of the user numbers from which each coder takes two for its programs. Only a "
          "trainer that runs as root uses them.");
  s.field("last_user", &grpo_code_section::last_user)
      .at_least(1000)
      .at_most(4'294'967'294)
      .help("The last of the user numbers.");
}

void describe(enum_schema<refusal_rule>& s) {
  s.name("auto", refusal_rule::automatic)
      .name("tell", refusal_rule::tell)
      .name("end", refusal_rule::end);
}

void describe(options_schema<grpo_outcomes_section>& s) {
  s.field("win", &grpo_outcomes_section::win)
      .help("The reward of an episode whose return is above 0. null means its return.");
  s.field("push", &grpo_outcomes_section::push)
      .help("The reward of an episode whose return is 0. null means its return.");
  s.field("loss", &grpo_outcomes_section::loss)
      .help("The reward of an episode whose return is below 0. null means its return.");
}

void describe(enum_schema<full_context_rule>& s) {
  s.name("truncate", full_context_rule::truncate).name("forget", full_context_rule::forget);
}

void describe(options_schema<grpo_world_section>& s) {
  s.field("urls", &grpo_world_section::urls)
      .items(0, 1024)
      .example("[http://localhost:8000]")
      .help(
          "The OpenEnv servers that host the games. An empty list means Troupe's own environment, "
          "in this process.");
  s.field("replicas", &grpo_world_section::replicas)
      .renamed_from("worlds")
      .at_least(1)
      .at_most(16384)
      .help(
          "The number of episodes that are played at the same time. null means 64, and 8 for "
          "worlds "
          "in Python, each of which is a process.");
  s.field("turns", &grpo_world_section::turns)
      .at_least(1)
      .at_most(1000)
      .help(
          "The number of turns after which an episode is truncated. null means the longest game "
          "that the task allows: 6 for blackjack; 8 for other worlds.");
  s.field("malformed", &grpo_world_section::malformed)
      .help(
          "A reply that is no action ends the episode (end), or the model is told and the turn "
          "counts (tell). auto is end for games and tell for other worlds.");
  s.field("malformed_reward", &grpo_world_section::malformed_reward)
      .renamed_from("illegal_reward")
      .help(
          "The reward of a reply that is no action. null means -1.1 where it ends the episode, "
          "else 0.");
  s.field("outcomes", &grpo_world_section::outcomes)
      .help("The rewards of episodes by the sign of their return, in place of the return.");
  s.field("history", &grpo_world_section::history)
      .at_least(1)
      .at_most(1000)
      .unit("turns")
      .help(
          "The number of last turns that the model is shown, besides the first text. null means "
          "all.");
  s.field("context", &grpo_world_section::context)
      .help(
          "When the model's context has no room for another turn, the episode is truncated "
          "(truncate), or the model is no longer shown the older half of its turns (forget).");
  s.field("shared_turns", &grpo_world_section::shared_turns)
      .at_least(0)
      .at_most(1000)
      .unit("turns")
      .help(
          "The largest number of turns at the beginning that the episodes of a group share. Each "
          "group draws a number up to this; the shared turns are played once and are not trained "
          "on.");
}

void describe(options_schema<grpo_warm_start_section>& s) {
  const auto has_steps = [](const grpo_warm_start_section& o) { return o.batches != 0; };
  constexpr auto if_has_steps = "warm_start.batches is above 0";
  s.field("data", &grpo_warm_start_section::data)
      .has_effect_if(if_has_steps, has_steps)
      .help(
          "A file of examples in JSON Lines, {\"prompt\": TEXT, \"answer\": TEXT} or "
          "{\"messages\": "
          "[{\"role\": R, \"content\": TEXT}, ...]} a line, for the supervised steps. Empty means "
          "right answers to the training problems, or legal moves in games.");
  s.field("batches", &grpo_warm_start_section::batches)
      .at_least(0)
      .at_most(1'000'000)
      .help(
          "The number of supervised steps before the first update. 0 means none. null means 40, "
          "120 for the letters model on problems, and 0 for a task in Python without data.");
  s.field("batch_size", &grpo_warm_start_section::batch_size)
      .has_effect_if(if_has_steps, has_steps)
      .at_least(1)
      .at_most(65536)
      .unit("examples")
      .help("The number of examples in one supervised step.");
  s.field("lr", &grpo_warm_start_section::lr)
      .has_effect_if(if_has_steps, has_steps)
      .above(0)
      .help("AdamW's step size at the first supervised step. It falls linearly to 0.");
  s.field("keep_moments", &grpo_warm_start_section::keep_moments)
      .has_effect_if(if_has_steps, has_steps)
      .help(
          "true lets the trainer's Adam go on with the moments of the supervised steps. null "
          "means true for problems, and false for games.");
}

void describe(options_schema<grpo_rollout_section>& s) {
  s.field("prompts", &grpo_rollout_section::prompts)
      .also_known_as({"batch", "batch_size"})
      .at_least(1)
      .at_most(4096)
      .help(
          "The number of groups in one update. null means 64, and 256 for the letters model on "
          "problems.");
  s.field("group", &grpo_rollout_section::group)
      .also_known_as({"group_size", "num_generations", "n"})
      .at_least(1)
      .at_most(4096)
      .unit("answers")
      .help(
          "The number of answers to each prompt. null means 8, and 4 for the letters model on "
          "problems.");
  s.field("max_completion_tokens", &grpo_rollout_section::max_completion_tokens)
      .renamed_from("answer_tokens")
      .also_known_as({"max_completion_length", "max_new_tokens"})
      .at_least(1)
      .at_most(1'000'000)
      .unit("tokens")
      .help("The largest number of tokens in an answer, or in one move of a game.");
  s.field("temperature", &grpo_rollout_section::temperature)
      .at_least(0.001)
      .at_most(1000)
      .help(
          "The sampling temperature. Training computes log-probabilities at the same temperature.");
  s.field("top_p", &grpo_rollout_section::top_p)
      .above(0)
      .at_most(1)
      .help(
          "Each token is drawn from the fewest likeliest tokens whose probabilities add up to "
          "this. 1 means all tokens.");
  s.field("top_k", &grpo_rollout_section::top_k)
      .at_least(0)
      .at_most(1'000'000'000)
      .unit("tokens")
      .help(
          "Each token is drawn from so many likeliest tokens, and those as likely as the last. 0 "
          "means all tokens.");
  s.field("min_p", &grpo_rollout_section::min_p)
      .at_least(0)
      .at_most(1)
      .help(
          "Each token is drawn from those that are at least this times as likely as the likeliest. "
          "0 means all tokens.");
  s.field("repetition_penalty", &grpo_rollout_section::repetition_penalty)
      .at_least(0.001)
      .at_most(1000)
      .help(
          "Positive logits of tokens that the prompt or the answer has already are divided by "
          "this, and negative ones are multiplied with it. 1 means no penalty. Evaluations have "
          "none.");
  s.field("rounds", &grpo_rollout_section::rounds)
      .at_least(1)
      .at_most(1000)
      .help(
          "The largest number of prompts that are asked for one group. Another prompt is asked "
          "while no answer can be trained on or, with zero_variance_groups refill, while all have "
          "the same "
          "reward.");
  s.field("workers", &grpo_rollout_section::workers)
      .at_least(1)
      .at_most(4096)
      .help("The number of groups that are generated at the same time.");
  s.field("max_staleness", &grpo_rollout_section::max_staleness)
      .at_least(0)
      .at_most(1'000'000)
      .unit("versions")
      .help("The number of versions that a group may be behind the trainer.");
  s.field("partial", &grpo_rollout_section::partial)
      .help(
          "Answers and episodes under way go on with new weights, and each token keeps the version "
          "that sampled it. false means that new weights wait until all that are "
          "under way have ended.");
  s.field("slots", &grpo_rollout_section::slots)
      .at_least(1)
      .at_most(4096)
      .help("The number of answers that the generator writes at the same time.");
  s.field("cache_mib", &grpo_rollout_section::cache_mib)
      .at_least(0)
      .at_most(1'000'000)
      .unit("MiB")
      .help(
          "The memory for the keys and values of finished replies in worlds, so that a next turn "
          "computes only its new tokens (prefix caching). It changes no reply. 0 means none.");
  s.field("answer_deadline_s", &grpo_rollout_section::answer_deadline_s)
      .above(0)
      .at_most(1e6)
      .unit("seconds")
      .help(
          "The time for writing a group's answers, and for judging one answer, including the wait "
          "in the queue. Answers that come later are dropped and counted, and another prompt is "
          "asked, up to rounds.");
}

void describe(options_schema<grpo_samples_section>& s) {
  s.field("every_updates", &grpo_samples_section::every_updates)
      .at_least(0)
      .unit("updates")
      .help(
          "The number of updates between those whose best and worst answers are kept in "
          "samples.jsonl. 0 means that none are kept.");
  s.field("tokens", &grpo_samples_section::tokens)
      .help(
          "Keeps all answers of these groups as tokens, too: their ids, the ranges that were read "
          "and not sampled, the log-probabilities of the sampled ones, and the advantages.");
}

void describe(options_schema<grpo_evaluation_section>& s) {
  s.field("every_updates", &grpo_evaluation_section::every_updates)
      .at_least(0)
      .unit("updates")
      .help(
          "The number of updates between evaluations; the first is before training. 0 means only "
          "one, at the end.");
  const auto during_training = [](const grpo_evaluation_section& e) { return e.every_updates > 0; };
  s.field("problems", &grpo_evaluation_section::problems)
      .has_effect_if("evaluation.every_updates is above 0", during_training)
      .at_least(1)
      .at_most(1'000'000)
      .help(
          "The number of held-out problems, or of deals in a game, in an evaluation during "
          "training. Each is asked once, and the likeliest tokens are taken. null means 100, and "
          "at "
          "most half of those that a file has.");
  s.field("final_problems", &grpo_evaluation_section::final_problems)
      .at_least(1)
      .at_most(1'000'000)
      .help(
          "The number of problems in the evaluation at the end and in `troupe eval`. These are "
          "other held-out problems. null means as many as evaluation.problems does.");
  s.field("stop_at", &grpo_evaluation_section::stop_at)
      .has_effect_if("evaluation.every_updates is above 0", during_training)
      .at_least(-1)
      .at_most(1)
      .help(
          "The share of right answers, or the mean reward in games, at which training ends. null "
          "means that only total_steps ends it.");
}

namespace {

using config = grpo_config;

/// Says which options of the task's problems have an effect with which tasks.
void describe_problem_effects(options_schema<grpo_config>& s) {
  const auto section = &grpo_task_section::problems;
  constexpr auto has_problems = "the task has problems (a world has those of task.data alone)";
  const auto has_end = [](const config& c) {
    return !c.task.kind.is_played || !c.task.data.empty();
  };
  s.option(&config::task, section, &grpo_problems_section::size)
      .has_effect_if("the task draws its problems", [](const config& c) {
        return !c.task.kind.is_played && !c.task.kind.is_generated && !c.task.kind.has_file;
      });
  s.option(&config::task, section, &grpo_problems_section::training)
      .has_effect_if(has_problems, has_end)
      .has_effect_if(
          "a task in Python shows them in a warm start or as shots", [](const config& c) {
            return !c.task.kind.is_generated || c.task.shots > 0 || c.warm_start.shows_problems();
          });
  s.option(&config::task, section, &grpo_problems_section::held_out)
      .has_effect_if(has_problems, has_end);
}

/// Says which options have an effect with which tasks.
void describe_task_effects(options_schema<grpo_config>& s) {
  const auto of_file = [&s](auto member) {
    s.option(&config::task, member).has_effect_if("task.data names a file", [](const config& c) {
      return !c.task.data.empty();
    });
  };
  of_file(&grpo_task_section::prompt);
  of_file(&grpo_task_section::answer);
  of_file(&grpo_task_section::held_out_data);
  of_file(&grpo_task_section::level);
  of_file(&grpo_task_section::levels);
  const auto of_records = [&s](auto member) {
    s.option(&config::task, member)
        .has_effect_if("the task is a world or runs code", [](const config& c) {
          return c.task.kind.is_played || c.task.kind.runs_code;
        });
  };
  of_records(&grpo_task_section::record);
  of_records(&grpo_task_section::replay);
  const auto is_played = [](const config& c) { return c.task.kind.is_played; };
  s.option(&config::world).has_effect_if("the task is a world", is_played);
  s.option(&config::world, &grpo_world_section::urls)
      .has_effect_if("it is a game", [](const config& c) { return c.task.kind.is_game; });
  s.option(&config::rollout, &grpo_rollout_section::cache_mib)
      .has_effect_if("the task is a world", is_played);
  s.option(&config::code).has_effect_if("the task runs code", [](const config& c) {
    return c.task.kind.runs_code;
  });
}

/// Says which options of processes in Python have an effect with which tasks.
void describe_python_effects(options_schema<grpo_config>& s) {
  const auto of_all = [&s](auto member) {
    s.option(&config::python, member)
        .has_effect_if("a reward, the task, its world or the reader of its file is in Python",
                       [](const config& c) { return c.runs_python(); });
  };
  of_all(&grpo_python_section::interpreter);
  of_all(&grpo_python_section::start_timeout);
  of_all(&grpo_python_section::memory_limit_mb);
  const auto of_rewards = [&s](auto member) {
    s.option(&config::python, member).has_effect_if("a reward is in Python", [](const config& c) {
      return !c.python_rewards().functions.empty();
    });
  };
  of_rewards(&grpo_python_section::workers);
  of_rewards(&grpo_python_section::reward_timeout);
  s.option(&config::python, &grpo_python_section::prompt_timeout)
      .has_effect_if("the task is in Python",
                     [](const config& c) { return c.task.kind.is_generated; });
  s.option(&config::python, &grpo_python_section::world_timeout)
      .has_effect_if("a world is in Python",
                     [](const config& c) { return c.task.kind.world_in_python; });
}

}  // namespace

void describe(options_schema<grpo_config>& s) {
  s.field("algo", &grpo_config::algo)
      .one_of({"grpo"})
      .help("The algorithm that this file configures.");
  s.field("task", &grpo_config::task).help("The task that the model learns.");
  s.field("tasks", &grpo_config::tasks)
      .items(0, 64)
      .example(R"([{"data":"sums.jsonl","share":2},{"world":"blackjack"}])")
      .help(
          "Several tasks in one run, each with the options of task, in place of task. [] means the "
          "one.");
  s.field("reward", &grpo_config::reward)
      .also_known_as({"reward_funcs"})
      .items(0, reward_functions_max)
      .example("[python:my_rewards:score]")
      .help(
          "The rewards of tasks that have no task.reward of their own. One needs no list: "
          "reward=python:my_rewards:score.");
  s.field("reward_weights", &grpo_config::reward_weights)
      .items(0, reward_functions_max)
      .example("[1,0.2]")
      .help("The weights of these rewards; [] means 1 each.");
  s.field("python", &grpo_config::python).help("The processes of rewards and tasks in Python.");
  s.field("code", &grpo_config::code).help("The execution of answers in the task code.");
  s.field("world", &grpo_config::world)
      .renamed_from("game")
      .help("The text worlds, in tasks that are played.");
  s.field("model", &grpo_config::model).help("The language model that learns.");
  s.field("total_steps", &grpo_config::total_steps)
      .also_known_as({"max_steps", "steps"})
      .at_least(1)
      .at_most(1e9)
      .unit("updates")
      .help("The number of updates after which training ends.");
  describe_schedule_steps(s, &grpo_config::schedule_steps, "updates");
  s.field("seed", &grpo_config::seed).help("The seed of weights, problems and answers.");
  s.field("mode", &grpo_config::mode)
      .help("The composition of generation and training: sync or async.");
  s.field("warm_start", &grpo_config::warm_start).help("Supervised steps before the first update.");
  s.field("rollout", &grpo_config::rollout).help("The generation of answers.");
  s.field("trainer", &grpo_config::trainer).help("The update rule.");
  s.field("evaluation", &grpo_config::evaluation)
      .help("The evaluation of the model on held-out problems.");
  s.field("checkpoint", &grpo_config::checkpoint)
      .help("The checkpoints, from which a run is resumed.");
  s.field("samples", &grpo_config::samples).help("The answers that are kept for people to read.");
  describe_deterministic(s);
  describe_async(s, &config::rollout, &grpo_rollout_section::workers,
                 &grpo_rollout_section::max_staleness, &grpo_rollout_section::partial);
  s.option(&config::warm_start, &grpo_warm_start_section::keep_moments)
      .has_effect_if("trainer.lora.rank is 0, as the warm start trains all weights",
                     [](const config& c) { return c.trainer.lora.rank == 0; });
  s.option(&config::task, &grpo_task_section::shots)
      .has_effect_if("the model is not that of letters, which reads only the problem itself",
                     [](const config& c) { return !c.model.is_letters(); });
  describe_problem_effects(s);
  describe_task_effects(s);
  describe_python_effects(s);
  s.option(&config::rollout, &grpo_rollout_section::group)
      .must_be(
          "at least 2, as advantages are differences within a group but of trainer.advantage of "
          "reward",
          [](const config& c) {
            return c.rollout.group.value_or(8) > 1 ||
                   c.trainer.advantages() == advantage_kind::reward;
          });
  s.option(&config::trainer, &grpo_options::overlong_cache)
      .must_be(
          [](const config& c) {
            return fmt::format("at most rollout.max_completion_tokens, {}",
                               c.rollout.max_completion_tokens);
          },
          [](const config& c) {
            return c.trainer.overlong_cache.value_or(0) <= c.rollout.max_completion_tokens;
          });
  s.option(&config::trainer, &grpo_options::warmup_updates)
      .must_be(
          [](const config& c) {
            return fmt::format("fewer than {}, {}, as the step size never comes to lr else",
                               c.schedule_steps ? "schedule_steps" : "total_steps",
                               c.schedule_steps.value_or(c.total_steps));
          },
          [](const config& c) {
            return c.trainer.warmup_updates.value_or(0) < c.schedule_steps.value_or(c.total_steps);
          });
  s.option(&config::code, &grpo_code_section::last_user)
      .must_be(
          [](const config& c) {
            return fmt::format("at least {}, two after code.first_user for each of code.coders",
                               last_user_needed(c.code));
          },
          [](const config& c) { return c.code.last_user >= last_user_needed(c.code); });
  // A program needs some memory to start, beside that of its files; see sandbox_maker.
  s.option(&config::code, &grpo_code_section::memory_mib)
      .must_be(
          [](const config& c) {
            return fmt::format("at least {}, as code.processes is {}", memory_needed_mib(c.code),
                               c.code.processes);
          },
          [](const config& c) {
            return c.allow_unsandboxed_code || c.code.memory_mib >= memory_needed_mib(c.code);
          });
  s.rule("reward", rewards_expected, [](const config& c) { return are_rewards(c.reward); });
  s.option(&config::reward_weights)
      .must_be(
          [](const config& c) {
            return fmt::format("[], or as many as reward has functions, {}", c.reward.size());
          },
          [](const config& c) {
            return c.reward_weights.empty() || c.reward_weights.size() == c.reward.size();
          });
  s.option(&config::world, &grpo_world_section::urls)
      .must_be("[] where deterministic is true, as a server's replies come when they come",
               [](const config& c) { return !c.deterministic || c.world.urls.empty(); });
}

}  // namespace troupe
