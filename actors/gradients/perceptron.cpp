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
    const auto kind = last ? net.output_activation() : net.hidden_activation();
    auto& g = x.owner();
    auto y = g.dense(input, block, layer, layer.is_normalised() ? activation::linear : kind);
    if (layer.is_normalised()) {
      y = layer_norm(y, g.parameter(block, first + layer.scale, 1, layer.out),
                     g.parameter(block, first + layer.shift, 1, layer.out), kind);
    }
    if (last) return {input, y};
    input = y;
  }
  return {x, input};
}

variable features(const detail::feature_extractor& extractor, variable x,
                  const parameter_block& block, std::size_t first) {
  if (extractor.encoder()) return extractor.encoder()->features_of(x, block, first);
  if (extractor.layers()) return perceptron(*extractor.layers(), x, block, first).outputs;
  return x.owner().features(x, block, first, extractor);
}

perceptron_outputs forward(const detail::network_stack& net, variable x,
                           const parameter_block& block, std::size_t first) {
  const auto& extractor = net.extractor();
  if (!extractor) return perceptron(net.top(), x, block, first);
  const auto behind = first + net.top().parameter_count();
  return perceptron(net.top(), features(*extractor, x, block, behind), block, first);
}

}  // namespace troupe
