#include "actors/torch/torch.hpp"

#include "actors/gradients/engine.hpp"

#include "actors/gradients/kernel_graph.hpp"
#include "actors/gradients/observed_graph.hpp"
#include "actors/gradients/torch_graph.hpp"
#include "actors/networks/backend_choice.hpp"

namespace troupe {
namespace {

bool uses_fused(gradient_backend backend, const detail::network_stack& net) {
  const auto choice = detail::choose_backend(
      backend, {.net = &net.top(), .extractor = net.obstacle(), .is_on_host = net.is_on_host()});
  detail::log_once(choice);
  return choice.fused;
}

}  // namespace

std::unique_ptr<graph> make_graph(bool fused, const detail::device_link& link) {
  if (fused) return detail::observed(std::make_unique<kernel_graph>(), link);
  return detail::observed(std::make_unique<torch_graph>(link), link);
}

std::unique_ptr<graph> make_graph(gradient_backend backend, const detail::network_stack& net) {
  return make_graph(uses_fused(backend, net), net.link());
}

std::unique_ptr<graph> make_graph(gradient_backend backend,
                                  std::span<const detail::network_stack* const> nets) {
  for (const auto* net : nets) {
    if (!uses_fused(backend, *net)) return make_graph(false, net->link());
  }
  return make_graph(true, nets.front()->link());
}

}  // namespace troupe
