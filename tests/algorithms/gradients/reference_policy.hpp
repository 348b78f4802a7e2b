#pragma once
// The arithmetic of actor_critic by libtorch's operators alone, beside that of the engines. Comes
// after actors/torch/torch.hpp.

#include <ATen/core/Tensor.h>

#include <cmath>
#include <vector>

#include "actors/networks/actor_critic.hpp"
#include "actors/networks/mlp_autograd.hpp"
#include "tests/algorithms/gradients/random_case.hpp"

namespace troupe {

struct reference_evaluation {
  at::Tensor log_prob, entropy, value;
};

/// With use_sde, of log std [H, A] and what the actor's last layer sees, which is held fixed: the
/// logarithm of sqrt(phi^2 std^2 + 1e-6), [N, A].
inline at::Tensor log_std_of_noise(const network_shape& shape, const network_options& options,
                                   const at::Tensor& actor, const at::Tensor& log_std,
                                   const at::Tensor& obs) {
  auto phi = obs;
  if (!options.hidden.empty()) {
    const std::vector<int> before(options.hidden.begin(), options.hidden.end() - 1);
    const detail::mlp body(shape.obs_size, before, options.hidden.back(), options.hidden_activation,
                           options.hidden_activation);
    const auto count = static_cast<std::int64_t>(body.parameter_count());
    phi = detail::forward(body, actor.narrow(0, 0, count), obs).detach();
  }
  const auto p = log_std.view({phi.size(1), shape.continuous_size});
  const auto std =
      options.use_expln ? at::where(p > 0, (p.relu() + 1.0).log() + 1.0, p.exp()) : p.exp();
  return (at::mm(phi.square(), std.square()) + 1e-6).sqrt().log();
}

/// The evaluation of actions for obs [N, D] under a network of perceptrons with these trained
/// parameters, whose block is actor, log_std, critic. `floats` are [N, A], `integers` [N, P].
inline reference_evaluation reference_evaluation_of(const network_shape& shape,
                                                    const network_options& options,
                                                    const at::Tensor& parameters,
                                                    const at::Tensor& obs, const at::Tensor& floats,
                                                    const at::Tensor& integers, kink_watch& watch) {
  const detail::mlp actor(shape.actor_inputs(), options.hidden, shape.actor_outputs(),
                          options.hidden_activation);
  const detail::mlp critic(shape.obs_size, options.critic_hidden.value_or(options.hidden), 1,
                           options.hidden_activation);
  const auto actor_size = static_cast<std::int64_t>(actor.parameter_count());
  const auto critic_size = static_cast<std::int64_t>(critic.parameter_count());
  const auto actor_part = parameters.narrow(0, 0, actor_size);
  const auto critic_part = parameters.narrow(0, parameters.size(0) - critic_size, critic_size);
  const auto own = obs.narrow(1, 0, shape.actor_inputs());
  watch.see(actor, actor_part, own);
  watch.see(critic, critic_part, obs);
  auto outputs = detail::forward(actor, actor_part, own);
  if (shape.mask_size > 0) {
    const auto allowed = obs.narrow(1, shape.actor_inputs(), shape.mask_size) > 0;
    const auto floats_only = at::ones({obs.size(0), shape.continuous_size}, at::kBool);
    const auto bits = at::ones({obs.size(0), shape.multi_binary}, at::kBool);
    outputs = at::where(at::cat({floats_only, allowed, bits}, 1), outputs,
                        at::full({}, -1e8, outputs.options()));
  }
  const auto value = detail::forward(critic, critic_part, obs).squeeze(1);
  auto log_prob = at::zeros({obs.size(0)}, obs.options());
  auto entropy = at::zeros({obs.size(0)}, obs.options());
  std::int64_t from = shape.continuous_size, choice = 0;
  if (shape.is_continuous()) {
    auto log_std = parameters.narrow(0, actor_size, parameters.size(0) - actor_size - critic_size);
    if (options.use_sde) log_std = log_std_of_noise(shape, options, actor_part, log_std, obs);
    const double half_log_two_pi = 0.5 * std::log(2.0 * M_PI);
    const auto z = (floats - outputs.narrow(1, 0, from)) / log_std.exp();
    log_prob = log_prob + (-0.5 * z.square() - log_std - half_log_two_pi).sum(1);
    entropy = entropy + (log_std + 0.5 + half_log_two_pi).sum(-1);
  }
  for (const int count : shape.categories()) {
    const auto log_p = at::log_softmax(outputs.narrow(1, from, count), 1);
    log_prob = log_prob + log_p.gather(1, integers.narrow(1, choice++, 1)).squeeze(1);
    entropy = entropy - (log_p.exp() * log_p).sum(1);
    from += count;
  }
  for (int bit = 0; bit < shape.multi_binary; ++bit) {  // a choice between logits 0 and z
    const auto z = outputs.narrow(1, from++, 1);
    const auto log_p = at::log_softmax(at::cat({at::zeros_like(z), z}, 1), 1);
    log_prob = log_prob + log_p.gather(1, integers.narrow(1, choice++, 1)).squeeze(1);
    entropy = entropy - (log_p.exp() * log_p).sum(1);
  }
  return {log_prob, entropy, value};
}

/// A copy of a network's parameters [P] as a leaf, which libtorch's optimisers can train, and the
/// network's arithmetic with it.
class reference_policy {
 public:
  explicit reference_policy(const actor_critic& of)
      : shape_(of.shape()), options_(of.options()), parameters_(of.parameters().clone()) {
    parameters_.requires_grad_();
  }

  at::Tensor& parameters() { return parameters_; }
  /// obs is [N, D], action [N], [N, P] or [N, A].
  reference_evaluation evaluate(const at::Tensor& obs, const at::Tensor& action) const {
    kink_watch unused;
    const auto integers = shape_.choice_count() > 0
                              ? action.reshape({obs.size(0), shape_.choice_count()})
                              : at::Tensor();
    return reference_evaluation_of(shape_, options_, parameters_, obs, action, integers, unused);
  }
  /// The gradient [P] of a loss.
  at::Tensor gradient_of(const at::Tensor& loss) const {
    return torch::autograd::grad({loss}, {parameters_})[0];
  }

 private:
  network_shape shape_;
  network_options options_;
  at::Tensor parameters_;
};

}  // namespace troupe
