#pragma once
#include <utility>

#include <ATen/core/Tensor.h>

#include "algorithms/off_policy/acting_policy.hpp"
#include "algorithms/off_policy/critic_autograd.hpp"

/// The gradients of sac_learner by libtorch's autograd. All tensors are float or all are double;
/// the computation has their precision.
namespace troupe::detail {

/// Computes actions tanh(mean + exp(log_std) noise) [N, A] and their log-probabilities [N] from
/// outputs [N, 2 A] and noise [N, A], as squashed_gaussian does.
std::pair<at::Tensor, at::Tensor> sample_squashed_gaussian(const at::Tensor& outputs,
                                                           const at::Tensor& noise);

/// Computes the actor's actions [N, A] and their log-probabilities [N] for obs [N, D], with the
/// parameters `parameters` [P]. `noise` is [N, A], or with use_sde one matrix [H, A], as in
/// sac_actor.
std::pair<at::Tensor, at::Tensor> sample_actor(const acting_policy& actor,
                                               const at::Tensor& parameters, const at::Tensor& obs,
                                               const at::Tensor& noise);

/// The targets of the critics [B]:
/// reward + discount (1 - terminated) (min_i Q'_i(s', a') - alpha log pi(a'|s')).
at::Tensor sac_targets(const acting_policy& actor, const at::Tensor& actor_parameters,
                       const critic_ensemble& critics, const at::Tensor& target,
                       const transition_batch& batch, const at::Tensor& next_noise, double alpha);

struct sac_actor_result {
  double loss = 0.0;  ///< The mean of alpha log pi(a|s) - min_i Q_i(s, a).
  double mean_log_prob = 0.0;
  at::Tensor gradient;  ///< [P]
};
sac_actor_result sac_actor_gradient(const acting_policy& actor, const at::Tensor& actor_parameters,
                                    const critic_ensemble& critics,
                                    const at::Tensor& critic_parameters,
                                    const transition_batch& batch, const at::Tensor& noise,
                                    double alpha);

}  // namespace troupe::detail
