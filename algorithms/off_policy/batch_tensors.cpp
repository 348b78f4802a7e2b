#include "actors/torch/torch.hpp"

#include "algorithms/off_policy/batch_tensors.hpp"

namespace troupe::detail {

at::Tensor tensor_of(std::span<const float> numbers, at::IntArrayRef sizes, at::ScalarType type) {
  return at::from_blob(const_cast<float*>(numbers.data()),
                       {static_cast<std::int64_t>(numbers.size())}, at::kFloat)
      .to(type)
      .view(sizes);
}

at::Tensor tensor_of_block(std::span<const float> block) {
  return tensor_of(block, {static_cast<std::int64_t>(block.size())}, at::kFloat);
}

void copy_to(const at::Tensor& from, std::span<float> to) {
  TORCH_CHECK(from.numel() == static_cast<std::int64_t>(to.size()), "expected ", to.size(),
              " numbers, got ", from.sizes());
  const auto block = from.contiguous();
  std::copy_n(block.data_ptr<float>(), to.size(), to.data());
}

}  // namespace troupe::detail
