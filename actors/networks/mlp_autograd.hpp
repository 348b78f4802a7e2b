#pragma once
// The networks of mlp.hpp in libtorch's operators.

#include <ATen/core/Tensor.h>

#include "actors/networks/mlp.hpp"

/// These functions have autograd, with which tests use them as a reference.
namespace troupe::detail {

at::Tensor activate(activation kind, const at::Tensor& x);

/// Returns the outputs of `net` for x [N, inputs], with its parameters in one flat tensor [P]. Both
/// are float or both double.
at::Tensor forward(const mlp& net, const at::Tensor& parameters, const at::Tensor& x);

}  // namespace troupe::detail
