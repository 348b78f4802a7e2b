#pragma once
// The networks of mlp.hpp in libtorch's operators.

#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "actors/networks/mlp.hpp"

/// These functions have autograd, with which tests use them as a reference.
namespace troupe::detail {

at::Tensor activate(activation kind, const at::Tensor& x);

/// Returns views of a flat block [P]: the weight and the bias of each layer in turn, and the scale
/// and the shift of its layer norm behind them.
std::vector<at::Tensor> layer_parts(const mlp& net, const at::Tensor& block);
/// Returns the names of these: "NAME.0.weight", "NAME.0.bias", "NAME.0.norm.weight",
/// "NAME.0.norm.bias", "NAME.1.weight", ...
std::vector<std::string> layer_part_names(const mlp& net, const std::string& name);

/// Returns the input of the last layer [N, H] and the outputs for x [N, inputs], with the
/// parameters in parts.
std::pair<at::Tensor, at::Tensor> forward(const mlp& net, const std::vector<at::Tensor>& parts,
                                          const at::Tensor& x);
/// Returns the outputs of `net` for x [N, inputs], with its parameters in one flat tensor [P]. Both
/// are float or both double.
at::Tensor forward(const mlp& net, const at::Tensor& parameters, const at::Tensor& x);

}  // namespace troupe::detail
