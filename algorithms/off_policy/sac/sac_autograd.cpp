#include "actors/torch/torch.hpp"

#include "algorithms/off_policy/sac/sac_autograd.hpp"

#include <cmath>
#include <numbers>

#include "actors/networks/mlp_autograd.hpp"
#include "algorithms/losses/squashed_gaussian.hpp"
#include "algorithms/off_policy/batch_tensors.hpp"
#include "algorithms/off_policy/sac/learner.hpp"

namespace troupe::detail {

namespace {

// tanh(u) and its log-probability, where u is normal and z standard deviations away from its mean.
std::pair<at::Tensor, at::Tensor> squashed(const at::Tensor& u, const at::Tensor& z,
                                           const at::Tensor& log_std) {
  const auto log_slope = 2.0 * (std::numbers::ln2 - u - at::softplus(-2.0 * u));
  const auto log_density =
      -0.5 * z.square() - log_std - 0.5 * std::log(2.0 * std::numbers::pi) - log_slope;
  return {at::tanh(u), log_density.sum(1)};
}

}  // namespace

std::pair<at::Tensor, at::Tensor> sample_squashed_gaussian(const at::Tensor& outputs,
                                                           const at::Tensor& noise) {
  const auto size = outputs.size(1) / 2;
  const auto mean = outputs.narrow(1, 0, size);
  const auto log_std = outputs.narrow(1, size, size).clamp(min_log_std, max_log_std);
  return squashed(mean + log_std.exp() * noise, noise, log_std);
}

std::pair<at::Tensor, at::Tensor> sample_actor(const acting_policy& actor,
                                               const at::Tensor& parameters, const at::Tensor& obs,
                                               const at::Tensor& noise) {
  const auto& net = actor.network();
  if (!actor.use_sde()) {
    return sample_squashed_gaussian(actor.stack().forward(parameters, obs), noise);
  }
  const auto count = static_cast<std::int64_t>(net.parameter_count());
  const auto [phi, outputs] = forward_with_features(net, parameters.narrow(0, 0, count), obs);
  const auto block = parameters.narrow(0, count, noise.numel()).view(noise.sizes());
  const auto mean = outputs.clamp(-max_noisy_mean, max_noisy_mean);
  const auto departure = at::mm(phi, state_dependent_std(block, actor.use_expln()) * noise);
  const auto log_std = state_dependent_log_std(block, phi, actor.use_expln());
  return squashed(mean + departure, departure / log_std.exp(), log_std);
}

at::Tensor sac_targets(const acting_policy& actor, const at::Tensor& actor_parameters,
                       const critic_ensemble& critics, const at::Tensor& target,
                       const transition_batch& batch, const at::Tensor& next_noise, double alpha) {
  const at::NoGradGuard no_grad;
  const auto type = actor_parameters.scalar_type();
  const std::int64_t rows = batch.rows;
  const auto column = [&](const std::vector<float>& x) { return tensor_of(x, {rows}, type); };
  const auto next_obs = tensor_of(batch.next_obs, {rows, actor.stack().inputs()}, type);
  const auto [action, log_prob] = sample_actor(actor, actor_parameters, next_obs, next_noise);
  const auto q = critic_values(critics, target, next_obs, action, critics.count());
  const auto next = std::get<0>(q.min(1)) - alpha * log_prob;
  return column(batch.reward) + column(batch.discount) * (1.0 - column(batch.terminated)) * next;
}

sac_actor_result sac_actor_gradient(const acting_policy& actor, const at::Tensor& actor_parameters,
                                    const critic_ensemble& critics,
                                    const at::Tensor& critic_parameters,
                                    const transition_batch& batch, const at::Tensor& noise,
                                    double alpha) {
  const at::AutoGradMode with_grad(true);
  const auto leaf = actor_parameters.detach().requires_grad_();
  const auto obs =
      tensor_of(batch.obs, {batch.rows, actor.stack().inputs()}, actor_parameters.scalar_type());
  const auto [action, log_prob] = sample_actor(actor, leaf, obs, noise);
  const auto q = critic_values(critics, critic_parameters, obs, action, critics.count());
  const auto loss = (alpha * log_prob - std::get<0>(q.min(1))).mean();
  return {loss.item<double>(), log_prob.detach().mean().item<double>(),
          torch::autograd::grad({loss}, {leaf})[0]};
}

}  // namespace troupe::detail

namespace troupe {

double sac_learner::critic_gradient_by_autograd(const transition_batch& batch, float alpha) {
  const auto block = detail::tensor_of_block;
  const auto y = detail::sac_targets(
      actor_, block(std::as_const(actor_).parameters()), critics_,
      block(std::as_const(critics_).target()), batch,
      detail::tensor_of(next_noise_, {-1, actor_.shape().continuous_size}, at::kFloat), alpha);
  const auto result = detail::fit_by_autograd(critics_, block(std::as_const(critics_).parameters()),
                                              batch, y, critic_scale);
  detail::copy_to(result.gradient, critics_.gradient());
  detail::copy_to(result.td_error, td_errors_);
  return result.fit.loss;
}

sac_learner::actor_result sac_learner::actor_gradient_by_autograd(const transition_batch& batch,
                                                                  float alpha) {
  const auto block = detail::tensor_of_block;
  const auto result = detail::sac_actor_gradient(
      actor_, block(std::as_const(actor_).parameters()), critics_,
      block(std::as_const(critics_).parameters()), batch,
      detail::tensor_of(noise_, {-1, actor_.shape().continuous_size}, at::kFloat), alpha);
  detail::copy_to(result.gradient, actor_gradient_);
  return {result.loss, result.mean_log_prob};
}

}  // namespace troupe
