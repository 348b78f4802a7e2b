#include "actors/torch/torch.hpp"

#include "actors/networks/mlp_autograd.hpp"

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

at::Tensor forward(const mlp& net, const at::Tensor& parameters, const at::Tensor& x) {
  auto y = x;
  for (std::size_t i = 0; i < net.layers().size(); ++i) {
    const auto& layer = net.layers()[i];
    const auto part = [&](std::size_t first, at::IntArrayRef sizes) {
      return parameters.narrow(0, static_cast<std::int64_t>(first), c10::multiply_integers(sizes))
          .view(sizes);
    };
    y = at::addmm(part(layer.bias, {layer.out}), y, part(layer.weight, {layer.in, layer.out}));
    y = activate(i + 1 < net.layers().size() ? net.hidden_activation() : net.output_activation(),
                 y);
  }
  return y;
}

}  // namespace troupe::detail
