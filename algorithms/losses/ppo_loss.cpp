#include "actors/torch/torch.hpp"

#include "algorithms/losses/ppo_loss.hpp"

namespace troupe {
namespace {

void check(const char* name, const at::Tensor& tensor, const at::Tensor& like) {
  TORCH_CHECK(tensor.defined() && tensor.dim() == 1 && tensor.sizes() == like.sizes(), name,
              " must be [N] = ", like.sizes(), ", got ",
              tensor.defined() ? tensor.sizes() : at::IntArrayRef{});
}

void check(const ppo_loss_inputs& in, const ppo_loss_options& options) {
  TORCH_CHECK(in.log_prob.defined() && in.log_prob.dim() == 1 && in.log_prob.size(0) > 0,
              "log_prob must be [N] with N > 0");
  check("entropy", in.entropy, in.log_prob);
  check("value", in.value, in.log_prob);
  check("behaviour_log_prob", in.behaviour_log_prob, in.log_prob);
  check("advantage", in.advantage, in.log_prob);
  check("returns", in.returns, in.log_prob);
  if (in.proximal_log_prob.defined()) {
    check("proximal_log_prob", in.proximal_log_prob, in.log_prob);
  }
  if (options.clip_range_vf) check("old_value", in.old_value, in.log_prob);
  if (in.acted.defined()) check("acted", in.acted, in.log_prob);
}

}  // namespace

ppo_loss_result ppo_loss(const ppo_loss_inputs& in, const ppo_loss_options& options) {
  check(in, options);
  const auto rows = in.acted.defined() ? in.acted.nonzero().squeeze(1) : at::Tensor();
  const auto acted = [&rows](const at::Tensor& of_all) {
    return rows.defined() ? of_all.index_select(0, rows) : of_all;
  };
  const auto mean = [](const at::Tensor& x) { return x.size(0) > 0 ? x.mean() : x.sum(); };
  const auto advantage = acted(in.advantage.detach());
  const auto behaviour = acted(in.behaviour_log_prob.detach());
  const auto proximal =
      in.proximal_log_prob.defined() ? acted(in.proximal_log_prob.detach()) : behaviour;

  const auto weight = (proximal - behaviour).exp().clamp_max(options.importance_cap);
  const auto log_ratio = acted(in.log_prob) - proximal;
  const auto ratio = log_ratio.exp();
  const auto clipped = ratio.clamp(1.0 - options.clip_range, 1.0 + options.clip_range);
  const auto surrogate = at::min(ratio * advantage, clipped * advantage);
  const auto policy_gradient_loss = -mean(weight * surrogate);

  auto value = in.value;
  if (options.clip_range_vf) {
    const double range = *options.clip_range_vf;
    value = in.old_value.detach() + (value - in.old_value.detach()).clamp(-range, range);
  }
  const auto value_loss = (in.returns.detach() - value).square().mean();
  const auto entropy_loss = -mean(acted(in.entropy));
  const auto loss =
      policy_gradient_loss + options.ent_coef * entropy_loss + options.vf_coef * value_loss;

  const at::NoGradGuard no_grad;
  const auto approx_kl = mean((ratio - 1.0) - log_ratio);
  const auto clip_fraction = mean(((ratio - 1.0).abs() > options.clip_range).to(at::kFloat));
  return {loss,
          {.loss = loss.item<double>(),
           .policy_gradient_loss = policy_gradient_loss.item<double>(),
           .value_loss = value_loss.item<double>(),
           .entropy_loss = entropy_loss.item<double>(),
           .approx_kl = approx_kl.item<double>(),
           .clip_fraction = clip_fraction.item<double>(),
           .importance_weight = mean(weight).item<double>()}};
}

}  // namespace troupe
