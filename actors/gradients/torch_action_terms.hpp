#pragma once
// The log-probabilities and entropies of actions by libtorch's operators.

#include <ATen/core/Tensor.h>

#include "actors/networks/action_head.hpp"

namespace troupe::detail {

/// The actions of some rows on the device that computes them.
struct action_tensors {
  at::Tensor choice;  ///< int64 [N, P]; undefined where there are none
  at::Tensor value;   ///< [N, A]; undefined where there are none
};

/// The log-probabilities and the entropies of actions, [N, 1] each.
struct action_term_tensors {
  at::Tensor log_prob;
  at::Tensor entropy;
};

/// Returns the log-probabilities and the entropies of actions with autograd. `outputs` is [N,
/// outputs], `log_std` [1, A] or [N, A], undefined without continuous actions.
action_term_tensors action_terms(const action_head& head, const at::Tensor& outputs,
                                 const at::Tensor& log_std, const action_tensors& actions);

}  // namespace troupe::detail
