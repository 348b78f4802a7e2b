#include "algorithms/language_models/grpo/config.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "algorithms/language_models/grpo/grpo_task.hpp"
#include "algorithms/run/option_rules.hpp"

namespace troupe {

namespace {

/// Coders take pairs that begin with an even number.
std::int64_t last_user_needed(const grpo_code_section& c) {
  return (c.first_user + 1) / 2 * 2 + 2 * std::int64_t{c.coders} - 1;
}

}  // namespace

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
  return options;
}

flat_group_rule grpo_options::flat_rule() const {
  // Without a baseline they teach as any other group does.
  if (advantages() == advantage_kind::reward) return flat_group_rule::keep;
  return flat_groups.value_or(preset().dynamic_sampling ? flat_group_rule::refill
                                                        : flat_group_rule::keep);
}

std::int64_t grpo_options::overlong_tokens(std::int64_t answer_tokens) const {
  if (overlong_cache) return *overlong_cache;
  const double share = preset().overlong_share;
  if (share == 0.0) return 0;
  return std::max<std::int64_t>(1, std::llround(share * static_cast<double>(answer_tokens)));
}

bool grpo_options::recomputes() const {
  if (loss_term() == policy_term::reinforce) return false;  // it has no ratio to them
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

void describe(enum_schema<flat_group_rule>& s) {
  s.name("keep", flat_group_rule::keep)
      .name("drop", flat_group_rule::drop)
      .name("refill", flat_group_rule::refill);
}

namespace {

void describe_loss(options_schema<grpo_options>& s) {
  s.field("variant", &grpo_options::variant)
      .help(
          "the published algorithm that options of null are taken from; null: cispo, of games "
          "dr_grpo");
  s.field("advantage", &grpo_options::advantage)
      .help("what is subtracted from a reward, and what the difference is divided by");
  s.field("term", &grpo_options::term).help("the loss of a token; null: the variant's");
  s.field("ratio", &grpo_options::ratio)
      .help("of probabilities, by token or by whole answer (GSPO); null: the variant's");
  s.field("aggregation", &grpo_options::aggregation)
      .also_known_as({"loss_type", "loss_agg_mode"})
      .help("how the losses of tokens become one number; null: the variant's");
  s.field("clip_low", &grpo_options::clip_low)
      .also_known_as({"epsilon", "clip_ratio", "clip_ratio_low"})
      .at_least(0)
      .below(1)
      .help("the ratio counts down to 1 less this; null: the variant's");
  s.field("clip_high", &grpo_options::clip_high)
      .also_known_as({"epsilon_high", "clip_ratio_high"})
      .at_least(0)
      .help("the ratio counts up to 1 and this; null: the variant's");
  s.field("dual_clip", &grpo_options::dual_clip)
      .also_known_as({"clip_ratio_c"})
      .at_least(0)
      .help("> 1: a token with a negative advantage costs at most this times it; 0: any");
  s.field("cispo_max", &grpo_options::cispo_max).above(0).help("largest ratio of term cispo");
  s.field("advantage_eps", &grpo_options::advantage_eps)
      .at_least(0)
      .help("added to the deviation that advantages are divided by");
  s.field("proximal", &grpo_options::proximal)
      .help(
          "what the ratio is to: the sampling weights (behaviour), or those the update begins with "
          "(recomputed: one forward pass more, decoupled PPO); auto: recomputed where epochs * "
          "minibatches > 1; term reinforce has no ratio");
  s.field("correction", &grpo_options::correction)
      .help(
          "of term reinforce, whose tokens are weighted by current / sampling weights, and of "
          "recomputed, by proximal / sampling weights: what becomes of weights above "
          "correction_max; none: all are 1; null: truncate of term reinforce, mask of recomputed");
  s.field("correction_by", &grpo_options::correction_by)
      .help("those weights by token or by whole answer");
  s.field("correction_max", &grpo_options::correction_max).above(0).help("the largest weight");
  s.field("correction_min", &grpo_options::correction_min)
      .at_least(0)
      .help("of correction mask: the smallest weight");
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
          "weight of the divergence from the first weights; 0: they aren't kept; null: 0, of games "
          "0.1");
  s.field("kl_in", &grpo_options::kl_in).help("where that is added");
  s.field("kl", &grpo_options::kl).help("its estimate where it is in the loss");
}

void describe_learning(options_schema<grpo_options>& s) {
  s.field("flat_groups", &grpo_options::flat_groups)
      .also_known_as({"filter_groups", "dynamic_sampling"})
      .help(
          "groups whose answers are all equally good teach nothing: keep, drop, or refill (ask "
          "another prompt in their place); null: keep, of variant dapo refill");
  s.field("mask_truncated", &grpo_options::mask_truncated)
      .also_known_as({"mask_truncated_completions", "overlong_filtering"})
      .help(
          "answers that the limit of tokens ended aren't trained on; they count for the group's "
          "mean, and as answers in the loss's");
  s.field("overlong_cache", &grpo_options::overlong_cache)
      .also_known_as({"soft_punish_cache", "overlong_buffer_len"})
      .at_least(0)
      .unit("tokens")
      .help(
          "reward falls by up to 1 over the last so many tokens before the limit of an answer "
          "(DAPO's soft overlong punishment); 0: it doesn't; null: 0, of variant dapo a fifth of "
          "rollout.answer_tokens, but of games 0");
  s.field("lr", &grpo_options::lr)
      .also_known_as({"learning_rate"})
      .above(0)
      .help("AdamW's step size; null: 1e-4 for the letters model, of games 1e-3; 1e-5 for others");
  s.field("lr_schedule", &grpo_options::lr_schedule)
      .help(
          "after the warm-up; linear: falls to 0 at the end, as transformers' linear schedule: the "
          "first of three updates takes all of lr, the last a third");
  s.field("warmup_updates", &grpo_options::warmup_updates)
      .at_least(0)
      .unit("updates")
      .help(
          "over which the step size rises linearly from 0, which is that of the first update, to "
          "lr "
          "at the first update after them, as transformers'; fewer than total_steps; null: 0, of "
          "problems in letters 20, or half of total_steps where that is less");
  s.field("epochs", &grpo_options::epochs)
      .also_known_as({"num_iterations", "ppo_epochs"})
      .at_least(1)
      .at_most(64)
      .help("passes over a batch");
  s.field("minibatches", &grpo_options::minibatches)
      .at_least(1)
      .at_most(1024)
      .help("optimiser steps a pass; a divisor of rollout.prompts");
  s.field("micro_tokens", &grpo_options::micro_tokens)
      .at_least(1)
      .unit("tokens")
      .help("of one forward pass, whole groups; smaller ones take less memory, and change nothing");
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
      .help("of a problem: the larger, the harder; null: 3, of sum_digits and reversed_text 4");
  s.field("training", &grpo_problems_section::training)
      .at_least(1)
      .at_most(1'000'000)
      .help("different problems to train on; null: 700, of sum_digits 7500");
  s.field("held_out", &grpo_problems_section::held_out)
      .at_least(1)
      .at_most(1'000'000)
      .help("others, for evaluation alone; null: 200, of sum_digits 1500");
}

void describe(options_schema<grpo_task_section>& s) {
  // No list of names that are allowed: a program can have tasks of its own.
  s.field("name", &grpo_task_section::name)
      .help(fmt::format("what is asked: {}", fmt::join(known_task_names(), ", ")));
  s.field("problems", &grpo_task_section::problems).help("made from the seed");
  s.field("shots", &grpo_task_section::shots)
      .at_least(0)
      .at_most(64)
      .help("training problems that a chat model is shown, solved, before the one it is asked");
}

void describe(options_schema<grpo_code_section>& s) {
  s.field("coders", &grpo_code_section::coders)
      .at_least(1)
      .at_most(1024)
      .help("programs that run at the same time");
  s.field("wall_s", &grpo_code_section::wall_s)
      .above(0)
      .at_most(86'400)
      .unit("seconds")
      .help("after which a program is killed");
  s.field("memory_mib", &grpo_code_section::memory_mib)
      .at_least(64)
      .at_most(1 << 20)
      .unit("MiB")
      .help("of a program's address space");
  s.field("processes", &grpo_code_section::processes)
      .at_least(1)
      .at_most(4096)
      .help(
          "processes and threads that a program may have at the same time, itself included; each "
          "may use memory_mib. More than 1 takes a trainer that runs as root");
  s.field("first_user", &grpo_code_section::first_user)
      .at_least(1000)
      .at_most(4'294'967'294)
      .help(
          "the first of the user numbers from which each coder takes two for its programs. Only a "
          "trainer that runs as root uses them");
  s.field("last_user", &grpo_code_section::last_user)
      .at_least(1000)
      .at_most(4'294'967'294)
      .help("the last of the user numbers");
}

void describe(options_schema<grpo_game_section>& s) {
  s.field("urls", &grpo_game_section::urls)
      .items(0, 1024)
      .example("[http://localhost:8000]")
      .help("OpenEnv servers; none: Troupe's own environment, in this process");
  s.field("worlds", &grpo_game_section::worlds)
      .at_least(1)
      .at_most(16384)
      .help("games at the same time");
  s.field("turns", &grpo_game_section::turns)
      .at_least(1)
      .at_most(1000)
      .help("after which a game is cut; null: the game's longest, of blackjack 6");
  s.field("illegal_reward", &grpo_game_section::illegal_reward)
      .help("of what is no legal move, which ends the game");
}

void describe(options_schema<grpo_model_section>& s) {
  s.field("path", &grpo_model_section::path)
      .help(
          "a chat model's folder or GGUF file, or the name of one that `troupe models get` has "
          "got; "
          "empty: a model of 22 letters, made by the seed");
  s.field("system_prompt", &grpo_model_section::system_prompt)
      .help("what a chat model is told first; empty: what its template says by itself");
}

void describe(options_schema<grpo_warm_start_section>& s) {
  s.field("batches", &grpo_warm_start_section::batches)
      .at_least(0)
      .at_most(1'000'000)
      .help(
          "supervised steps on right answers before the first update; 0: none; null: 40, of "
          "problems in letters 120");
  s.field("batch_size", &grpo_warm_start_section::batch_size)
      .at_least(1)
      .at_most(65536)
      .unit("problems")
      .help("of such a step");
  s.field("lr", &grpo_warm_start_section::lr)
      .above(0)
      .help("AdamW's step size at the first of them; it falls to 0");
  s.field("keep_moments", &grpo_warm_start_section::keep_moments)
      .help(
          "the trainer's Adam goes on with these steps' moments; null: of problems, not of games");
}

void describe(options_schema<grpo_rollout_section>& s) {
  s.field("prompts", &grpo_rollout_section::prompts)
      .also_known_as({"batch", "batch_size"})
      .at_least(1)
      .at_most(4096)
      .help("groups of one update; null: 64, of problems in letters 256");
  s.field("group", &grpo_rollout_section::group)
      .also_known_as({"group_size", "num_generations", "n"})
      .at_least(1)
      .at_most(4096)
      .unit("answers")
      .help("to each prompt; null: 8, of problems in letters 4");
  s.field("answer_tokens", &grpo_rollout_section::answer_tokens)
      .also_known_as({"max_completion_length", "max_new_tokens"})
      .at_least(1)
      .at_most(1'000'000)
      .unit("tokens")
      .help("longest answer, or move of a game");
  s.field("temperature", &grpo_rollout_section::temperature)
      .at_least(0.001)
      .at_most(1000)
      .help("of sampling; log-probabilities are trained at the same");
  s.field("rounds", &grpo_rollout_section::rounds)
      .at_least(1)
      .at_most(1000)
      .help("prompts asked for one group, until answers can be trained on and differ in reward");
  s.field("workers", &grpo_rollout_section::workers)
      .at_least(1)
      .at_most(4096)
      .help("groups under way at once in async mode");
  s.field("max_staleness", &grpo_rollout_section::max_staleness)
      .at_least(0)
      .at_most(1'000'000)
      .unit("versions")
      .help("that a group may be behind the trainer in async mode");
  s.field("slots", &grpo_rollout_section::slots)
      .at_least(1)
      .at_most(4096)
      .help("answers that the generator writes at the same time");
  s.field("answer_deadline_s", &grpo_rollout_section::answer_deadline_s)
      .above(0)
      .at_most(1e6)
      .unit("seconds")
      .help(
          "until a group's answers are written, or one is judged, waiting in line included; those "
          "that come later are dropped and counted, and another prompt is asked, up to rounds");
}

void describe(options_schema<grpo_samples_section>& s) {
  s.field("every_updates", &grpo_samples_section::every_updates)
      .at_least(0)
      .unit("updates")
      .help("between those whose best and worst answers are kept in samples.jsonl; 0: none");
}

void describe(options_schema<grpo_evaluation_section>& s) {
  s.field("every_updates", &grpo_evaluation_section::every_updates)
      .at_least(0)
      .unit("updates")
      .help("between evaluations, the first before training; 0: only at the end");
  s.field("problems", &grpo_evaluation_section::problems)
      .at_least(1)
      .at_most(1'000'000)
      .help(
          "held-out ones, or deals, of an evaluation during training, each once, likeliest tokens "
          "taken");
  s.field("final_problems", &grpo_evaluation_section::final_problems)
      .at_least(1)
      .at_most(1'000'000)
      .help("others of them, of the evaluation at the end and of troupe eval");
  s.field("stop_at", &grpo_evaluation_section::stop_at)
      .at_least(-1)
      .at_most(1)
      .help(
          "share of right answers, or mean reward of games, that ends training; null: total_steps "
          "alone do");
}

void describe(options_schema<grpo_config>& s) {
  s.field("algo", &grpo_config::algo).one_of({"grpo"}).help("what this configures");
  s.field("task", &grpo_config::task).help("what is asked");
  s.field("code", &grpo_config::code).help("how answers are run, where the task is code");
  s.field("game", &grpo_config::game).help("how it is played, where the task is a game");
  s.field("model", &grpo_config::model).help("who answers");
  s.field("total_steps", &grpo_config::total_steps)
      .also_known_as({"max_steps", "steps"})
      .at_least(1)
      .at_most(1e9)
      .unit("updates")
      .help("after which training ends");
  s.field("seed", &grpo_config::seed).help("of weights, problems and answers");
  s.field("mode", &grpo_config::mode).help("how answers and training are composed");
  s.field("warm_start", &grpo_config::warm_start).help("supervised steps before the first update");
  s.field("rollout", &grpo_config::rollout).help("how answers are made");
  s.field("trainer", &grpo_config::trainer).help("the update rule");
  s.field("evaluation", &grpo_config::evaluation).help("likeliest answers to held-out problems");
  s.field("checkpoint", &grpo_config::checkpoint).help("what a run is resumed from");
  s.field("samples", &grpo_config::samples).help("answers that are kept, for people");
  describe_deterministic(s);
  option_rule(
      s, "rollout.group",
      [](const grpo_config&) {
        return "at least 2, as advantages are differences within a group but of trainer.advantage "
               "of reward";
      },
      [](const grpo_config& c) {
        return c.rollout.group.value_or(8) > 1 || c.trainer.advantages() == advantage_kind::reward;
      });
  option_rule(
      s, "trainer.overlong_cache",
      [](const grpo_config& c) {
        return fmt::format("at most rollout.answer_tokens, {}", c.rollout.answer_tokens);
      },
      [](const grpo_config& c) {
        return c.trainer.overlong_cache.value_or(0) <= c.rollout.answer_tokens;
      });
  option_rule(
      s, "trainer.warmup_updates",
      [](const grpo_config& c) {
        return fmt::format("fewer than total_steps, {}, as the step size never comes to lr else",
                           c.total_steps);
      },
      [](const grpo_config& c) { return c.trainer.warmup_updates.value_or(0) < c.total_steps; });
  option_rule(
      s, "code.last_user",
      [](const grpo_config& c) {
        return fmt::format("at least {}, two after code.first_user for each of code.coders",
                           last_user_needed(c.code));
      },
      [](const grpo_config& c) { return c.code.last_user >= last_user_needed(c.code); });
  option_rule(
      s, "game.urls",
      [](const grpo_config&) {
        return "[] where deterministic is true, as a server's replies come when they come";
      },
      [](const grpo_config& c) { return !c.deterministic || c.game.urls.empty(); });
}

}  // namespace troupe
