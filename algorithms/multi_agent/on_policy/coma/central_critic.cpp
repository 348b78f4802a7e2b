#include "actors/torch/torch.hpp"

#include "algorithms/multi_agent/on_policy/coma/central_critic.hpp"

#include <algorithm>

#include "actors/networks/backend_choice.hpp"
#include "actors/networks/mlp_autograd.hpp"
#include "algorithms/losses/coma_loss.hpp"

namespace troupe {

namespace {

bool chooses_fused(gradient_backend asked, const detail::mlp& network) {
  const auto choice = detail::choose_backend(asked, {.net = &network});
  detail::log_once(choice);
  return choice.fused;
}

at::Tensor view_of(const float* numbers, at::IntArrayRef sizes) {
  return at::from_blob(const_cast<float*>(numbers), sizes, at::kFloat);
}

}  // namespace

central_critic::central_critic(int inputs, int actions, const network_options& options,
                               action_random& random)
    : network_(inputs, options.critic_hidden.value_or(options.hidden), actions,
               options.hidden_activation),
      fused_(chooses_fused(options.backend, network_)),
      parameters_(network_.parameter_count()),
      gradient_(network_.parameter_count()) {
  if (options.ortho_init) {
    network_.initialise_orthogonal(random, 1.0, parameters_.data());
  } else {
    network_.initialise_uniform(random, parameters_.data());
  }
  renew_target();
}

void central_critic::values(const float* x, int rows, float* q) {
  network_.infer(parameters_.data(), x, rows, buffers_, q);
}

void central_critic::target_values(const float* x, int rows, float* q) {
  network_.infer(target_.data(), x, rows, buffers_, q);
}

double central_critic::differentiate(const float* x, int rows, const std::int64_t* choice,
                                     const float* target) {
  if (!fused_) {
    const std::int64_t count = rows;
    const auto by_autograd = detail::critic_gradient_by_autograd(
        network_, view_of(parameters_.data(), {std::ssize(parameters_)}),
        view_of(x, {count, inputs()}),
        at::from_blob(const_cast<std::int64_t*>(choice), {count}, at::kLong),
        view_of(target, {count}));
    view_of(gradient_.data(), {std::ssize(gradient_)}).copy_(by_autograd.gradient);
    return by_autograd.loss;
  }
  const float* q = network_.forward(parameters_.data(), x, rows, buffers_);
  float* d_q = detail::grown(d_q_, static_cast<std::size_t>(rows) * network_.outputs());
  const double loss = coma_critic_loss_with_gradient(
      {.rows = rows, .actions = actions(), .q = q, .choice = choice, .target = target}, d_q);
  network_.backward(parameters_.data(), x, rows, d_q, buffers_, gradient_.data());
  return loss;
}

detail::critic_gradient detail::critic_gradient_by_autograd(const mlp& network,
                                                            const at::Tensor& parameters,
                                                            const at::Tensor& x,
                                                            const at::Tensor& choice,
                                                            const at::Tensor& target) {
  const at::AutoGradMode with_graph(true);
  const auto leaf = parameters.detach().requires_grad_();
  const auto loss = coma_critic_loss(forward(network, leaf, x), choice, target);
  return {loss.item<double>(), torch::autograd::grad({loss}, {leaf})[0]};
}

}  // namespace troupe
