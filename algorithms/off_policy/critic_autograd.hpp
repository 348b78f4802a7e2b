#pragma once
#include <ATen/core/Tensor.h>

#include "algorithms/off_policy/critic_ensemble.hpp"

namespace troupe::detail {

/// Q_i(s, a) of the first `among` critics, [N, among], by libtorch's operators: `parameters` [Q] as
/// the ensemble's, obs [N, D] and action [N, A] of the same type, float or double.
at::Tensor critic_values(const critic_ensemble& critics, const at::Tensor& parameters,
                         const at::Tensor& obs, const at::Tensor& action, int among);

/// critic_ensemble's loss and its gradient [Q] by autograd.
struct critic_autograd_result {
  critic_ensemble::fit_result fit;
  at::Tensor gradient;  ///< [Q]
  at::Tensor td_error;  ///< [B]
};
critic_autograd_result fit_by_autograd(const critic_ensemble& critics, const at::Tensor& parameters,
                                       const transition_batch& batch, const at::Tensor& y,
                                       double scale);

}  // namespace troupe::detail
