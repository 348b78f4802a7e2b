#pragma once
// The gradients of rules that are functions of a graph, by libtorch's engine. Comes after
// actors/torch/torch.hpp.

#include <ATen/core/Tensor.h>

#include <span>
#include <vector>

#include "actors/gradients/torch_graph.hpp"

namespace troupe {

/// The gradient of a rule by libtorch's engine. `loss` takes the graph and the block.
template <class Loss>
at::Tensor gradient_by_torch(std::span<const float> parameters, at::ScalarType type,
                             const Loss& loss) {
  torch_graph g(detail::device_link("cpu"), type);
  std::vector<float> gradient(parameters.size());
  g.backward(loss(g, parameter_block{parameters, gradient}));
  return at::tensor(gradient, at::kFloat);
}

inline std::span<const float> in_span(const at::Tensor& gradient) {
  return {gradient.data_ptr<float>(), static_cast<std::size_t>(gradient.numel())};
}

}  // namespace troupe
