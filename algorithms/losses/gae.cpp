#include "actors/torch/torch.hpp"

#include "algorithms/losses/gae.hpp"

#include "algorithms/losses/return_steps.hpp"

namespace troupe {

gae_targets gae(const gae_inputs& in, const gae_options& options) {
  const detail::return_steps steps(in);
  auto advantage_tensor = at::zeros(steps.value().sizes(), at::kFloat);
  auto* advantage = advantage_tensor.data_ptr<float>();
  const auto gamma = static_cast<float>(options.gamma);
  const auto gamma_lambda = static_cast<float>(options.gamma * options.lambda);

  // delta_t = r_t + gamma V(s_t+1) - V(s_t);  A_t = delta_t + gamma lambda A_t+1
  steps.visit_backward(
      [&](std::int64_t i, float reward, float value, float next_value, float next_advantage) {
        const float delta = reward + gamma * next_value - value;
        return advantage[i] = delta + gamma_lambda * next_advantage;
      });
  return {advantage_tensor, advantage_tensor + steps.value()};
}

}  // namespace troupe
