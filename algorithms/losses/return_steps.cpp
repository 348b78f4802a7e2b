#include "actors/torch/torch.hpp"

#include "algorithms/losses/return_steps.hpp"

namespace troupe::detail {

at::Tensor checked_column(const char* name, const at::Tensor& tensor, at::IntArrayRef sizes,
                          at::ScalarType type) {
  TORCH_CHECK(tensor.defined() && tensor.sizes() == sizes, name, " must be ", sizes, ", got ",
              tensor.defined() ? tensor.sizes() : at::IntArrayRef{});
  return tensor.detach().to(type).contiguous();
}

return_steps::return_steps(const gae_inputs& in) {
  TORCH_CHECK(in.reward.defined() && in.reward.dim() == 2, "reward must be [T, B]");
  const auto T = steps_ = in.reward.size(0);
  const auto B = environments_ = in.reward.size(1);
  reward_ = checked_column("reward", in.reward, {T, B}, at::kFloat);
  value_ = checked_column("value", in.value, {T, B}, at::kFloat);
  terminated_ = checked_column("terminated", in.terminated, {T, B}, at::kBool);
  truncated_ = checked_column("truncated", in.truncated, {T, B}, at::kBool);
  final_value_ = checked_column("final_value", in.final_value, {T, B}, at::kFloat);
  bootstrap_value_ = checked_column("bootstrap_value", in.bootstrap_value, {B}, at::kFloat);
  if (in.valid.defined()) valid_ = checked_column("valid", in.valid, {T, B}, at::kBool);
}

}  // namespace troupe::detail
