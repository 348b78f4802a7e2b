#pragma once
#include <utility>

#include <ATen/core/Tensor.h>

#include "actors/networks/mlp.hpp"

/// The same networks in libtorch's operators, with autograd: for architectures that have no
/// hand-written gradient, and as the reference of those that have.
namespace troupe::detail {

at::Tensor activate(activation kind, const at::Tensor& x);

/// `net` of x [N, inputs], with its parameters in one flat tensor [P]; both float or both double.
at::Tensor forward(const mlp& net, const at::Tensor& parameters, const at::Tensor& x);
/// {mlp::features_of [N, H], the same}
std::pair<at::Tensor, at::Tensor> forward_with_features(const mlp& net,
                                                        const at::Tensor& parameters,
                                                        const at::Tensor& x);

/// state_dependent_noise's standard deviations [H, A] of its parameters [H, A].
at::Tensor state_dependent_std(const at::Tensor& parameters, bool use_expln);
/// state_dependent_noise::log_std: [N, A] of phi [N, H] and its parameters [H, A]; both float or
/// both double. The gradient flows into both.
at::Tensor state_dependent_log_std(const at::Tensor& parameters, const at::Tensor& phi,
                                   bool use_expln);

}  // namespace troupe::detail
