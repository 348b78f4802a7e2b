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
  return forward_with_features(net, parameters, x).second;
}

std::pair<at::Tensor, at::Tensor> forward_with_features(const mlp& net,
                                                        const at::Tensor& parameters,
                                                        const at::Tensor& x) {
  std::vector<std::int64_t> sizes;
  for (const auto& layer : net.layers()) {
    sizes.push_back(std::int64_t{layer.in} * layer.out);
    sizes.push_back(layer.out);
  }
  const auto parts = parameters.split_with_sizes(sizes);
  at::Tensor features;
  auto y = x;
  for (std::size_t i = 0; i < net.layers().size(); ++i) {
    features = y;
    const auto& layer = net.layers()[i];
    y = at::addmm(parts[2 * i + 1], y, parts[2 * i].view({layer.in, layer.out}));
    y = activate(i + 1 < net.layers().size() ? net.hidden_activation() : net.output_activation(),
                 y);
  }
  return {features, y};
}

at::Tensor state_dependent_std(const at::Tensor& parameters, bool use_expln) {
  if (!use_expln) return parameters.exp();
  // Each side is finite where the other one is taken, so that neither gradient is NaN.
  return at::where(parameters > 0, at::log1p(at::relu(parameters)) + 1.0,
                   parameters.clamp_max(0.0).exp());
}

at::Tensor state_dependent_log_std(const at::Tensor& parameters, const at::Tensor& phi,
                                   bool use_expln) {
  const auto std = state_dependent_std(parameters, use_expln);
  return 0.5 * (at::mm(phi.square(), std.square()) + 1e-6).log();
}

}  // namespace troupe::detail
