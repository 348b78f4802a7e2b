#pragma once
#include <span>

#include <ATen/core/Tensor.h>

namespace troupe::detail {

/// A view of plain floats as a tensor, or a copy if `type` is double. The memory must outlive a
/// view.
/// Throws c10::Error if the sizes don't fit; one of them may be -1, for what is left.
at::Tensor tensor_of(std::span<const float> numbers, at::IntArrayRef sizes, at::ScalarType type);

/// The same of a whole block of parameters [P].
at::Tensor tensor_of_block(std::span<const float> block);

/// Copies a tensor of as many floats. Throws c10::Error if there are more or fewer.
void copy_to(const at::Tensor& from, std::span<float> to);

}  // namespace troupe::detail
