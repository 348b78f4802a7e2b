#pragma once
// The networks of mlp.hpp in libtorch's operators.

#include <utility>

#include <ATen/core/Tensor.h>

#include "actors/networks/mlp.hpp"

/// These functions have autograd. They are used for architectures that have no hand-written
/// gradient, and as the reference of those that have one.
namespace troupe::detail {

at::Tensor activate(activation kind, const at::Tensor& x);

/// Returns the outputs of `net` for x [N, inputs], with its parameters in one flat tensor [P]. Both
/// are float or both double.
at::Tensor forward(const mlp& net, const at::Tensor& parameters, const at::Tensor& x);
/// Returns mlp::features_of [N, H] and the outputs.
std::pair<at::Tensor, at::Tensor> forward_with_features(const mlp& net,
                                                        const at::Tensor& parameters,
                                                        const at::Tensor& x);

/// Returns state_dependent_noise's standard deviations [H, A] for its parameters [H, A].
at::Tensor state_dependent_std(const at::Tensor& parameters, bool use_expln);
/// Returns state_dependent_noise::log_std, [N, A], of phi [N, H] and its parameters [H, A]. Both
/// are float or both double. The gradient flows into both.
at::Tensor state_dependent_log_std(const at::Tensor& parameters, const at::Tensor& phi,
                                   bool use_expln);

}  // namespace troupe::detail
