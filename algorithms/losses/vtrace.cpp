#include "actors/torch/torch.hpp"

#include "algorithms/losses/vtrace.hpp"

#include <algorithm>

#include "algorithms/losses/return_steps.hpp"

namespace troupe {

gae_targets vtrace(const gae_inputs& in, const at::Tensor& ratio, const vtrace_options& options) {
  const detail::return_steps steps(in);
  const auto sizes = steps.value().sizes();
  const auto ratios = detail::checked_column("ratio", ratio, sizes, at::kFloat);
  auto advantage = at::zeros(sizes, at::kFloat), returns = steps.value().clone();
  const auto gamma = static_cast<float>(options.gamma);
  const auto lambda = static_cast<float>(options.lambda);
  const auto rho_cap = static_cast<float>(options.rho_cap);
  const auto c_cap = static_cast<float>(options.c_cap);

  // The trace of a step is v_t - V(s_t).
  steps.visit_backward(
      [&](std::int64_t i, float reward, float value, float next_value, float next_trace) {
        const float ratio_now = ratios.data_ptr<float>()[i];
        const float rho = std::min(rho_cap, ratio_now), c = lambda * std::min(c_cap, ratio_now);
        const float trace = rho * (reward + gamma * next_value - value) + gamma * c * next_trace;
        advantage.data_ptr<float>()[i] = rho * (reward + gamma * (next_value + next_trace) - value);
        returns.data_ptr<float>()[i] = value + trace;
        return trace;
      });
  return {advantage, returns};
}

}  // namespace troupe
