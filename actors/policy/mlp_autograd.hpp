#pragma once
#include <ATen/core/Tensor.h>

#include "actors/policy/mlp.hpp"

/// The same networks in libtorch's operators, with autograd: for architectures that have no
/// hand-written gradient, and as the reference of those that have.
namespace troupe::detail {

at::Tensor activate(activation kind, const at::Tensor& x);

/// `net` of x [N, inputs], with its parameters in one flat tensor [P]; both float or both double.
at::Tensor forward(const mlp& net, const at::Tensor& parameters, const at::Tensor& x);

}  // namespace troupe::detail
