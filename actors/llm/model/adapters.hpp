#pragma once
// Low-rank adapters of a decoder's linear layers. training/lora.hpp makes and trains them.

#include <ATen/core/Tensor.h>

#include <array>
#include <vector>

namespace troupe::llm {

/// The linear layers (projections) in each layer of a decoder.
enum class projection { q, k, v, o, gate, up, down };
constexpr std::size_t projections = 7;

/// A low-rank adapter of a linear layer: y = x W^T + scale (x a^T) b^T. The tensors are undefined
/// where a layer has no adapter.
struct adapter {
  at::Tensor a;  ///< [rank, inputs]
  at::Tensor b;  ///< [outputs, rank]
};

/// The adapters of all layers, by projection.
struct adapter_weights {
  double scale = 1.0;
  std::vector<std::array<adapter, projections>> layers;
};

}  // namespace troupe::llm
