#include "actors/torch/torch.hpp"

#include "algorithms/losses/grpo_loss.hpp"

#include "algorithms/losses/policy_ratio.hpp"

namespace troupe {
namespace {

at::Tensor term_of(const grpo_loss_inputs& in, const grpo_loss_options& options,
                   const at::Tensor& ratio, const at::Tensor& advantage) {
  switch (options.term) {
    case policy_term::clip:
      return clipped_term(ratio, advantage, options.clip);
    case policy_term::cispo:
      return cispo_term(in.log_prob, ratio, advantage, options.cispo_max);
    case policy_term::reinforce:
      return reinforce_term(in.log_prob, advantage);
  }
  TORCH_CHECK(false, "grpo_loss: expected one of the terms");
}

}  // namespace

grpo_preset preset_of(grpo_variant variant) {
  grpo_preset preset;
  auto& loss = preset.loss;
  switch (variant) {
    case grpo_variant::grpo:
      loss.aggregation = loss_aggregation::sequence_mean;
      break;
    case grpo_variant::dr_grpo:
      preset.advantage = advantage_kind::group_mean;
      loss.aggregation = loss_aggregation::constant_length;
      break;
    case grpo_variant::dapo:
      loss.clip.high = 0.28;
      preset.dynamic_sampling = true;
      preset.overlong_share = 0.2;  // 4,096 of 20,480 tokens
      break;
    case grpo_variant::gspo:
      loss.ratio = ratio_level::sequence;
      loss.clip = {.low = 3e-4, .high = 4e-4};
      loss.aggregation = loss_aggregation::sequence_mean;
      break;
    case grpo_variant::cispo:
      loss.term = policy_term::cispo;
      break;
    case grpo_variant::rloo:
      preset.advantage = advantage_kind::leave_one_out;
      loss.term = policy_term::reinforce;
      loss.aggregation = loss_aggregation::sequence_sum;
      break;
    case grpo_variant::reinforce:
      preset.advantage = advantage_kind::reward;
      loss.term = policy_term::reinforce;
      loss.aggregation = loss_aggregation::sequence_sum;
      break;
  }
  return preset;
}

grpo_loss_result grpo_loss(const grpo_loss_inputs& in, const grpo_loss_options& options,
                           const loss_divisor& whole) {
  in.rows.check_tokens("log_prob", in.log_prob);
  in.rows.check_tokens("behaviour", in.behaviour);
  if (in.proximal.defined()) in.rows.check_tokens("proximal", in.proximal);
  const bool has_kl = options.kl_coef != 0.0;
  if (has_kl) in.rows.check_tokens("reference", in.reference);
  const bool has_entropy = options.entropy_coef != 0.0;
  if (has_entropy) in.rows.check_tokens("entropy", in.entropy);

  const auto advantage = in.rows.spread(in.advantage.detach());
  const auto proximal = in.proximal.defined() ? in.proximal : in.behaviour;
  const auto ratio = options.ratio == ratio_level::token
                         ? token_ratio(in.log_prob, proximal)
                         : sequence_ratio(in.log_prob, proximal, in.rows);
  const bool has_ratio = options.term != policy_term::reinforce;
  const auto corrected = importance_correction(has_ratio ? proximal : in.log_prob, in.behaviour,
                                               in.rows, options.correction);
  auto of_tokens = corrected.weight * term_of(in, options, ratio, advantage);
  at::Tensor kl;
  if (has_kl) {
    kl = kl_estimate(options.kl, in.log_prob, in.reference);
    of_tokens = of_tokens + options.kl_coef * kl;
  }
  auto loss = aggregated(of_tokens, in.rows, options.aggregation, whole, in.length_max);
  if (has_entropy) {
    const auto mean = aggregated(in.entropy, in.rows, loss_aggregation::token_mean, whole);
    loss = loss - options.entropy_coef * mean;
  }

  const at::NoGradGuard no_grad;
  const auto approx_kl = kl_estimate(kl_kind::k3, proximal, in.log_prob).mean();
  const auto clipped = options.term == policy_term::clip
                           ? clip_fractions_of(ratio, advantage, options.clip)
                           : clip_fractions{};
  return {loss,
          {.loss = loss.item<double>(),
           .ratio = ratio.mean().item<double>(),
           .approx_kl = approx_kl.item<double>(),
           .clip_low = clipped.low,
           .clip_high = clipped.high,
           .weight = corrected.mean,
           .out_of_range = corrected.out_of_range,
           .kl = has_kl ? kl.mean().item<double>() : 0.0,
           .entropy = has_entropy ? in.entropy.mean().item<double>() : 0.0}};
}

}  // namespace troupe
