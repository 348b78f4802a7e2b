#include "actors/torch/torch.hpp"

#include "actors/gradients/engine.hpp"

#include "actors/gradients/kernel_graph.hpp"
#include "actors/gradients/torch_graph.hpp"

namespace troupe {

std::unique_ptr<graph> make_graph(bool fused, const detail::device_link& link) {
  if (fused) return std::make_unique<kernel_graph>();
  return std::make_unique<torch_graph>(link);
}

}  // namespace troupe
