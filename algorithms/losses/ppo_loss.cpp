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

/// The squared errors of values, with huber_delta twice their Huber losses.
at::Tensor errors_of(const at::Tensor& value, const at::Tensor& returns,
                     const std::optional<double>& huber_delta) {
  const auto error = returns.detach() - value;
  if (!huber_delta) return error.square();
  const auto distance = error.abs();
  return at::where(distance <= *huber_delta, error.square(),
                   *huber_delta * (2 * distance - *huber_delta));
}

/// The loss of each value [N].
at::Tensor value_losses(const ppo_loss_inputs& in, const ppo_loss_options& options) {
  const auto of = [&](const at::Tensor& value) {
    return errors_of(value, in.returns, options.huber_delta);
  };
  if (!options.clip_range_vf) return of(in.value);
  const double range = *options.clip_range_vf;
  const auto old = in.old_value.detach();
  const auto clipped = of(old + (in.value - old).clamp(-range, range));
  return options.clip_vf_loss == value_clipping::larger ? at::max(of(in.value), clipped) : clipped;
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

  const auto value_loss = value_losses(in, options).mean();
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
