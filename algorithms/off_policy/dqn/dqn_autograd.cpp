#include "actors/torch/torch.hpp"

#include "algorithms/off_policy/dqn/dqn_autograd.hpp"

#include "algorithms/off_policy/batch_tensors.hpp"
#include "algorithms/off_policy/dqn/learner.hpp"

namespace troupe::detail {

dqn_autograd_result dqn_gradient_by_autograd(const network_stack& net, bool dueling, bool double_q,
                                             const at::Tensor& online, const at::Tensor& target,
                                             const transition_batch& batch) {
  const auto type = online.scalar_type();
  const std::int64_t rows = batch.rows;
  const auto column = [&](const std::vector<float>& x) { return tensor_of(x, {rows}, type); };
  const auto obs = tensor_of(batch.obs, {rows, net.inputs()}, type);
  const auto next_obs = tensor_of(batch.next_obs, {rows, net.inputs()}, type);
  const auto values = [&](const at::Tensor& parameters, const at::Tensor& x) {
    const auto outputs = net.forward(parameters, x);
    return dueling ? dueling_values(outputs) : outputs;
  };

  const at::AutoGradMode with_grad(true);
  const auto leaf = online.detach().requires_grad_();
  dqn_loss_inputs in{
      .q = values(leaf, obs),
      .choice = at::from_blob(const_cast<std::int64_t*>(batch.choice.data()), {rows}, at::kLong),
      .reward = column(batch.reward),
      .terminated = column(batch.terminated),
      .discount = column(batch.discount)};
  {
    const at::NoGradGuard no_grad;
    in.next_target = values(target, next_obs);
    if (double_q) in.next_online = values(online, next_obs);
  }
  if (!batch.weight.empty()) in.weight = column(batch.weight);
  const auto result = dqn_loss(in);
  return {{result.loss.item<double>(), result.q_of_choice.mean().item<double>()},
          torch::autograd::grad({result.loss}, {leaf})[0],
          result.td_error};
}

}  // namespace troupe::detail

namespace troupe {

dqn_loss_metrics dqn_learner::libtorch_gradient(const transition_batch& batch) {
  const auto block = detail::tensor_of_block;
  const auto result = detail::dqn_gradient_by_autograd(
      online_.stack(), options_.dueling, options_.double_q,
      block(std::as_const(online_).parameters()), block(target_), batch);
  detail::copy_to(result.gradient, gradient_);
  detail::copy_to(result.td_error, td_errors_);
  return result.metrics;
}

}  // namespace troupe
