#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <vector>

namespace troupe::llm {

/// The linear layers of a decoder's layer.
enum class projection { q, k, v, o, gate, up, down };
constexpr std::size_t projections = 7;

/// What is added to a linear layer: y = x W^T + scale (x a^T) b^T. Undefined where nothing is.
struct adapter {
  at::Tensor a;  ///< [rank, inputs]
  at::Tensor b;  ///< [outputs, rank]
};

/// Of all layers, by projection.
struct adapter_weights {
  double scale = 1.0;
  std::vector<std::array<adapter, projections>> layers;
};

}  // namespace troupe::llm
