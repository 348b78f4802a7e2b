#pragma once
#include <ATen/core/Tensor.h>

#include "actors/policy/mlp.hpp"

/// The same networks in libtorch's operators, with autograd: for architectures that have no
/// hand-written gradient, and as the reference of those that have.
namespace troupe::detail {

at::Tensor activate(activation kind, const at::Tensor& x);

/// `net` of x [N, inputs], with its parameters in one flat tensor [P]; both float or both double.
at::Tensor forward(const mlp& net, const at::Tensor& parameters, const at::Tensor& x);

/// state_dependent_noise::log_std: [N, A] of phi [N, H] and its parameters [H, A]; both float or
/// both double. The gradient flows into both.
at::Tensor state_dependent_log_std(const at::Tensor& parameters, const at::Tensor& phi,
                                   bool use_expln);

}  // namespace troupe::detail
