#pragma once
#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include "actors/policy/float_block.hpp"

namespace troupe::detail {

/// A view of plain floats as a tensor, or a copy if `type` is double. The memory must outlive a
/// view.
at::Tensor tensor_of(const float* data, at::IntArrayRef sizes, at::ScalarType type);

}  // namespace troupe::detail
