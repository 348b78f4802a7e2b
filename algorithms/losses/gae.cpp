#include "actors/torch/torch.hpp"

#include "algorithms/losses/gae.hpp"

#include <cmath>

namespace troupe {
namespace {

// Converts a tensor of any number type to `type`, contiguous. Throws c10::Error for another shape.
at::Tensor checked(const char* name, const at::Tensor& tensor, at::IntArrayRef sizes,
                   at::ScalarType type) {
  TORCH_CHECK(tensor.defined() && tensor.sizes() == sizes, name, " must be ", sizes, ", got ",
              tensor.defined() ? tensor.sizes() : at::IntArrayRef{});
  return tensor.detach().to(type).contiguous();
}

}  // namespace

gae_targets gae(const gae_inputs& in, const gae_options& options) {
  TORCH_CHECK(in.reward.defined() && in.reward.dim() == 2, "reward must be [T, B]");
  const auto T = in.reward.size(0);
  const auto B = in.reward.size(1);
  const auto reward_tensor = checked("reward", in.reward, {T, B}, at::kFloat);
  const auto value_tensor = checked("value", in.value, {T, B}, at::kFloat);
  const auto terminated_tensor = checked("terminated", in.terminated, {T, B}, at::kBool);
  const auto truncated_tensor = checked("truncated", in.truncated, {T, B}, at::kBool);
  const auto final_tensor = checked("final_value", in.final_value, {T, B}, at::kFloat);
  const auto bootstrap_tensor = checked("bootstrap_value", in.bootstrap_value, {B}, at::kFloat);
  const auto valid_tensor =
      in.valid.defined() ? checked("valid", in.valid, {T, B}, at::kBool) : at::Tensor{};

  const auto* reward = reward_tensor.data_ptr<float>();
  const auto* value = value_tensor.data_ptr<float>();
  const auto* terminated = terminated_tensor.data_ptr<bool>();
  const auto* truncated = truncated_tensor.data_ptr<bool>();
  const auto* final_value = final_tensor.data_ptr<float>();
  const auto* bootstrap_value = bootstrap_tensor.data_ptr<float>();
  const auto* valid = valid_tensor.defined() ? valid_tensor.data_ptr<bool>() : nullptr;

  auto advantage_tensor = at::zeros({T, B}, at::kFloat);
  auto* advantage = advantage_tensor.data_ptr<float>();
  const auto gamma = static_cast<float>(options.gamma);
  const auto gamma_lambda = static_cast<float>(options.gamma * options.lambda);

  // delta_t = r_t + gamma V(s_t+1) - V(s_t);  A_t = delta_t + gamma lambda A_t+1
  for (std::int64_t b = 0; b < B; ++b) {
    float next_value = bootstrap_value[b];
    float next_advantage = 0.0f;
    for (std::int64_t i = (T - 1) * B + b; i >= 0; i -= B) {
      if (valid && !valid[i]) {
        next_value = std::isfinite(value[i]) ? value[i] : 0.0f;
        next_advantage = 0.0f;
        continue;
      }
      if (terminated[i] || truncated[i]) {
        next_value = terminated[i] ? 0.0f : final_value[i];
        next_advantage = 0.0f;
      }
      const float delta = reward[i] + gamma * next_value - value[i];
      advantage[i] = delta + gamma_lambda * next_advantage;
      next_value = value[i];
      next_advantage = advantage[i];
    }
  }
  return {advantage_tensor, advantage_tensor + value_tensor};
}

}  // namespace troupe
