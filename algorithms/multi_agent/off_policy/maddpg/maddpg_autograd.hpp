#pragma once
// The gradients of maddpg_learner with libtorch, for networks without hand-written kernels.

#include <ATen/core/Tensor.h>

#include "algorithms/multi_agent/off_policy/maddpg/networks.hpp"
#include "algorithms/off_policy/transition_batch.hpp"

/// All tensors are float or all are double; the computation has their precision.
namespace troupe::detail {

struct maddpg_critic_result {
  double loss = 0.0;
  double q_mean = 0.0;
  std::int64_t rows = 0;  ///< The rows of the policy's agents that act; 0 means no gradient.
  at::Tensor gradient;    ///< [Q]
  at::Tensor td_error;    ///< [B, N], 0 for agents of other policies and agents that don't act
};
/// The loss of a policy's critics. `target_actors` [P] are those of all policies; `critics` and
/// `target_critics` [Q] are those of the policy; `noise` [B, A] is added to the target actions.
maddpg_critic_result maddpg_critic_gradient(const maddpg_networks& networks, std::size_t policy,
                                            const at::Tensor& target_actors,
                                            const at::Tensor& critics,
                                            const at::Tensor& target_critics,
                                            const transition_batch& batch, const at::Tensor& noise);

struct maddpg_actor_result {
  double loss = 0.0;
  at::Tensor gradient;  ///< [P of the policy]; undefined if none of its agents acts in the batch.
};
/// The loss of a policy's actor with the parameters `actor`, and the critics [Q].
maddpg_actor_result maddpg_actor_gradient(const maddpg_networks& networks, std::size_t policy,
                                          const at::Tensor& actor, const at::Tensor& critics,
                                          const transition_batch& batch);

}  // namespace troupe::detail
