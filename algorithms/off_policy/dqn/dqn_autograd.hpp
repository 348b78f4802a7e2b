#pragma once
// The gradient of DQN with libtorch, for networks without hand-written kernels.

#include <ATen/core/Tensor.h>

#include "actors/networks/network_stack.hpp"
#include "algorithms/losses/dqn_loss.hpp"
#include "algorithms/off_policy/transition_batch.hpp"

namespace troupe::detail {

struct dqn_autograd_result {
  dqn_loss_metrics metrics;
  at::Tensor gradient;  ///< [P]
  at::Tensor td_error;  ///< [B] |Q(s, a) - target|
};

/// Computes the gradient of dqn_learner with libtorch's autograd. `online` and `target` are
/// parameters [P] of `net`, both float or both double; the computation has their precision.
dqn_autograd_result dqn_gradient_by_autograd(const network_stack& net, bool dueling, bool double_q,
                                             const at::Tensor& online, const at::Tensor& target,
                                             const transition_batch& batch);

}  // namespace troupe::detail
