#pragma once
#include <ATen/core/Tensor.h>

#include "actors/networks/mlp.hpp"
#include "algorithms/off_policy/critic_autograd.hpp"
#include "algorithms/off_policy/td3/learner.hpp"

/// td3_learner's gradients by libtorch's autograd. All tensors float or all double, which is then
/// the arithmetic's precision.
namespace troupe::detail {

/// reward + discount (1 - terminated) bootstrap(Q'_i(s', clip(mu'(s') + noise, -1, 1))), [B]. The
/// rule is given floats; null: the smallest Q'_i.
at::Tensor td3_targets(const mlp& actor, const at::Tensor& target_actor,
                       const critic_ensemble& critics, const at::Tensor& target,
                       const transition_batch& batch, const at::Tensor& noise,
                       const bootstrap_rule& bootstrap = nullptr);

struct td3_actor_result {
  double loss = 0.0;    ///< mean of -Q_1(s, mu(s))
  at::Tensor gradient;  ///< [P]
};
td3_actor_result td3_actor_gradient(const mlp& actor, const at::Tensor& actor_parameters,
                                    const critic_ensemble& critics,
                                    const at::Tensor& critic_parameters,
                                    const transition_batch& batch);

}  // namespace troupe::detail
