#pragma once
// The gradient of joint_q_learner with libtorch, for networks without hand-written kernels.

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include "algorithms/losses/joint_td_loss.hpp"
#include "algorithms/multi_agent/off_policy/joint_q_networks.hpp"
#include "algorithms/multi_agent/off_policy/value_mixer.hpp"
#include "algorithms/off_policy/transition_batch.hpp"

namespace troupe::detail {

struct joint_q_autograd_result {
  td_loss_metrics metrics;
  at::Tensor gradient;  ///< [P + M]
  at::Tensor td_error;  ///< [B]
};

/// Computes the gradient of joint_q_learner with libtorch's autograd. `online` and `target` are
/// parameters [P + M], both float or both double; the computation has their precision. `mixer` may
/// be null; `trained` [policies].
joint_q_autograd_result joint_q_gradient_by_autograd(const joint_q_networks& networks,
                                                     const value_mixer* mixer,
                                                     const std::vector<std::uint8_t>& trained,
                                                     bool double_q, const at::Tensor& online,
                                                     const at::Tensor& target,
                                                     const transition_batch& batch);

}  // namespace troupe::detail
