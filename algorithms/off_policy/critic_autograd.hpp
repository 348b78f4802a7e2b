#pragma once
// The critics' values and gradients with libtorch, for networks without hand-written kernels.

#include <ATen/core/Tensor.h>

#include "algorithms/off_policy/critic_ensemble.hpp"

namespace troupe::detail {

/// Computes Q_i(s, a) of the first `among` critics, [N, among], with libtorch's operators.
/// `parameters` [Q] has the layout of the ensemble; obs [N, D] and action [N, A] have the same
/// type, float or double.
at::Tensor critic_values(const critic_ensemble& critics, const at::Tensor& parameters,
                         const at::Tensor& obs, const at::Tensor& action, int among);

struct critic_autograd_result {
  critic_ensemble::fit_result fit;
  at::Tensor gradient;  ///< [Q]
  at::Tensor td_error;  ///< [B]
};
/// Computes critic_ensemble::fit and its gradient with libtorch's autograd.
critic_autograd_result fit_by_autograd(const critic_ensemble& critics, const at::Tensor& parameters,
                                       const transition_batch& batch, const at::Tensor& y,
                                       double scale);

}  // namespace troupe::detail
