#pragma once
// Conversions between plain memory and tensors, for the learners' libtorch backend.

#include <span>

#include <ATen/core/Tensor.h>

namespace troupe::detail {

/// Returns a view of plain floats as a tensor, or a copy if `type` is double. The memory must
/// outlive the view. One of the sizes may be -1 and is then computed. Throws c10::Error if the
/// sizes don't fit.
at::Tensor tensor_of(std::span<const float> numbers, at::IntArrayRef sizes, at::ScalarType type);

/// Returns a view of a whole block of parameters as a tensor [P].
at::Tensor tensor_of_block(std::span<const float> block);

/// Copies the numbers of a tensor to `to`. Throws c10::Error if their number differs from its size.
void copy_to(const at::Tensor& from, std::span<float> to);

}  // namespace troupe::detail
