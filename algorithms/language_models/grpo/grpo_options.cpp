#include "algorithms/language_models/grpo/grpo_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "algorithms/run/training_config.hpp"

namespace troupe {

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

adam_options grpo_options::adam() const {
  return {.beta1 = beta1,
          .beta2 = beta2,
          .eps = adam_eps,
          .max_grad_norm = max_grad_norm,
          .weight_decay = weight_decay};
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
  s.field("max_grad_norm", &grpo_options::max_grad_norm)
      .at_least(0)
      .help("of all parameters together; 0: no clipping");
  s.field("weight_decay", &grpo_options::weight_decay).at_least(0).help("AdamW's");
  s.field("beta1", &grpo_options::beta1).at_least(0).below(1).help("AdamW's first moment");
  s.field("beta2", &grpo_options::beta2).at_least(0).below(1).help("AdamW's second moment");
  s.field("adam_eps", &grpo_options::adam_eps).above(0).help("AdamW's epsilon");
  s.field("max_skipped_steps", &grpo_options::max_skipped_steps)
      .at_least(1)
      .help("optimiser steps in a row with non-finite numbers that end training");
}

}  // namespace

void describe(options_schema<grpo_options>& s) {
  describe_loss(s);
  describe_learning(s);
}

}  // namespace troupe
