#include "actors/torch/torch.hpp"

#include "algorithms/off_policy/td3/td3_autograd.hpp"

#include "algorithms/off_policy/batch_tensors.hpp"

namespace troupe::detail {

namespace {

/// Applies the rule to each row of q [N, K]; returns [N].
at::Tensor bootstrapped(const at::Tensor& q, const bootstrap_rule& bootstrap) {
  if (!bootstrap) return std::get<0>(q.min(1));
  const auto rows = q.to(at::kFloat).contiguous();
  const auto critics = static_cast<std::size_t>(rows.size(1));
  auto value = at::empty({rows.size(0)}, at::kFloat);
  const float* each = rows.data_ptr<float>();
  for (std::int64_t row = 0; row < rows.size(0); ++row, each += critics) {
    value.data_ptr<float>()[row] = bootstrap({each, critics});
  }
  return value.to(q.scalar_type());
}

}  // namespace

at::Tensor td3_targets(const network_stack& actor, const at::Tensor& target_actor,
                       const critic_ensemble& critics, const at::Tensor& target,
                       const transition_batch& batch, const at::Tensor& noise,
                       const bootstrap_rule& bootstrap) {
  const at::NoGradGuard no_grad;
  const auto type = target_actor.scalar_type();
  const std::int64_t rows = batch.rows;
  const auto column = [&](const std::vector<float>& x) { return tensor_of(x, {rows}, type); };
  const auto next_obs = tensor_of(batch.next_obs, {rows, actor.inputs()}, type);
  const auto action = (actor.forward(target_actor, next_obs) + noise).clamp(-1.0, 1.0);
  const auto q = critic_values(critics, target, next_obs, action, critics.count());
  return column(batch.reward) +
         column(batch.discount) * (1.0 - column(batch.terminated)) * bootstrapped(q, bootstrap);
}

td3_actor_result td3_actor_gradient(const network_stack& actor, const at::Tensor& actor_parameters,
                                    const critic_ensemble& critics,
                                    const at::Tensor& critic_parameters,
                                    const transition_batch& batch) {
  const at::AutoGradMode with_grad(true);
  const auto leaf = actor_parameters.detach().requires_grad_();
  const auto obs =
      tensor_of(batch.obs, {batch.rows, actor.inputs()}, actor_parameters.scalar_type());
  const auto loss =
      -critic_values(critics, critic_parameters, obs, actor.forward(leaf, obs), 1).mean();
  return {loss.item<double>(), torch::autograd::grad({loss}, {leaf})[0]};
}

}  // namespace troupe::detail

namespace troupe {

td3_learner::critic_result td3_learner::critic_gradient_by_autograd(const transition_batch& batch) {
  const auto block = detail::tensor_of_block;
  const auto y = detail::td3_targets(
      actor_.stack(), block(target_actor_), critics_, block(std::as_const(critics_).target()),
      batch, detail::tensor_of(noise_, {batch.rows, -1}, at::kFloat), bootstrap_);
  const auto result = detail::fit_by_autograd(critics_, block(std::as_const(critics_).parameters()),
                                              batch, y, critic_scale);
  detail::copy_to(result.gradient, critics_.gradient());
  detail::copy_to(result.td_error, td_errors_);
  return {result.fit.loss, result.fit.q_mean};
}

double td3_learner::actor_gradient_by_autograd(const transition_batch& batch) {
  const auto block = detail::tensor_of_block;
  const auto result =
      detail::td3_actor_gradient(actor_.stack(), block(std::as_const(actor_).parameters()),
                                 critics_, block(std::as_const(critics_).parameters()), batch);
  detail::copy_to(result.gradient, actor_gradient_);
  return result.loss;
}

}  // namespace troupe
