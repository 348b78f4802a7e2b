#include "actors/torch/torch.hpp"

#include "actors/gradients/perceptron.hpp"

namespace troupe {

perceptron_outputs perceptron(const detail::mlp& net, variable x, const parameter_block& block,
                              std::size_t first) {
  variable input = x;
  const auto& layers = net.layers();
  for (std::size_t i = 0; i < layers.size(); ++i) {
    auto layer = layers[i];
    layer.weight += first;
    layer.bias += first;
    const bool last = i + 1 == layers.size();
    const auto y = x.owner().dense(input, block, layer,
                                   last ? net.output_activation() : net.hidden_activation());
    if (last) return {input, y};
    input = y;
  }
  return {x, input};
}

perceptron_outputs forward(const detail::network_stack& net, variable x,
                           const parameter_block& block, std::size_t first) {
  const auto& extractor = net.extractor();
  if (!extractor) return perceptron(net.top(), x, block, first);
  const auto behind = first + net.top().parameter_count();
  return perceptron(net.top(), x.owner().features(x, block, behind, *extractor), block, first);
}

}  // namespace troupe
