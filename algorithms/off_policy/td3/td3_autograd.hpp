#pragma once
#include <ATen/core/Tensor.h>

#include "actors/networks/network_stack.hpp"
#include "algorithms/off_policy/critic_autograd.hpp"
#include "algorithms/off_policy/td3/learner.hpp"

/// The gradients of td3_learner by libtorch's autograd. All tensors are float or all are double;
/// the computation has their precision.
namespace troupe::detail {

/// The targets of the critics [B]:
/// reward + discount (1 - terminated) bootstrap(Q'_i(s', clip(mu'(s') + noise, -1, 1))).
/// The rule gets the values as floats. Null means the smallest Q'_i.
at::Tensor td3_targets(const network_stack& actor, const at::Tensor& target_actor,
                       const critic_ensemble& critics, const at::Tensor& target,
                       const transition_batch& batch, const at::Tensor& noise,
                       const bootstrap_rule& bootstrap = nullptr);

struct td3_actor_result {
  double loss = 0.0;    ///< The mean of -Q_1(s, mu(s)).
  at::Tensor gradient;  ///< [P]
};
td3_actor_result td3_actor_gradient(const network_stack& actor, const at::Tensor& actor_parameters,
                                    const critic_ensemble& critics,
                                    const at::Tensor& critic_parameters,
                                    const transition_batch& batch);

}  // namespace troupe::detail
