#include "actors/torch/torch.hpp"

#include "actors/networks/mlp_autograd.hpp"

#include "actors/kernels/norm_kernels.hpp"

namespace troupe::detail {

at::Tensor activate(activation kind, const at::Tensor& x) {
  switch (kind) {
    case activation::tanh:
      return at::tanh(x);
    case activation::relu:
      return at::relu(x);
    case activation::elu:
      return at::elu(x);
    case activation::leaky_relu:
      return at::leaky_relu(x, 0.01);
    case activation::silu:
      return at::silu(x);
    case activation::linear:
      break;
  }
  return x;
}

std::vector<at::Tensor> layer_parts(const mlp& net, const at::Tensor& block) {
  std::vector<at::Tensor> parts;
  const auto add = [&](std::size_t first, at::IntArrayRef sizes) {
    const auto count = c10::multiply_integers(sizes);
    parts.push_back(block.narrow(0, static_cast<std::int64_t>(first), count).view(sizes));
  };
  for (const auto& layer : net.layers()) {
    add(layer.weight, {layer.in, layer.out});
    add(layer.bias, {layer.out});
    if (!layer.is_normalised()) continue;
    add(layer.scale, {layer.out});
    add(layer.shift, {layer.out});
  }
  return parts;
}

std::vector<std::string> layer_part_names(const mlp& net, const std::string& name) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < net.layers().size(); ++i) {
    const auto layer = name + '.' + std::to_string(i);
    names.push_back(layer + ".weight");
    names.push_back(layer + ".bias");
    if (!net.layers()[i].is_normalised()) continue;
    names.push_back(layer + ".norm.weight");
    names.push_back(layer + ".norm.bias");
  }
  return names;
}

std::pair<at::Tensor, at::Tensor> forward(const mlp& net, const std::vector<at::Tensor>& parts,
                                          const at::Tensor& x) {
  auto input = x, y = x;
  auto part = parts.begin();
  for (std::size_t i = 0; i < net.layers().size(); ++i) {
    const auto& layer = net.layers()[i];
    input = y;
    y = at::addmm(part[1], input, part[0]);
    part += 2;
    if (layer.is_normalised()) {
      y = at::layer_norm(y, {layer.out}, part[0], part[1], layer_norm_eps);
      part += 2;
    }
    y = activate(i + 1 < net.layers().size() ? net.hidden_activation() : net.output_activation(),
                 y);
  }
  return {input, y};
}

at::Tensor forward(const mlp& net, const at::Tensor& parameters, const at::Tensor& x) {
  return forward(net, layer_parts(net, parameters), x).second;
}

}  // namespace troupe::detail
