#pragma once
// Views of plain memory as tensors, for the checks of learners against libtorch. Comes after
// actors/torch/torch.hpp.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>

namespace troupe::detail {

/// Returns a view of plain floats as a tensor, or a copy if `type` is double. The memory must
/// outlive the view. One of the sizes may be -1 and is then computed. Throws c10::Error if the
/// sizes don't fit.
inline at::Tensor tensor_of(std::span<const float> numbers, at::IntArrayRef sizes,
                            at::ScalarType type) {
  return at::from_blob(const_cast<float*>(numbers.data()),
                       {static_cast<std::int64_t>(numbers.size())}, at::kFloat)
      .to(type)
      .view(sizes);
}

/// Returns a view of a whole block of parameters as a tensor [P].
inline at::Tensor tensor_of_block(std::span<const float> block) {
  return tensor_of(block, {static_cast<std::int64_t>(block.size())}, at::kFloat);
}

}  // namespace troupe::detail
