#pragma once
#include <utility>

#include <ATen/core/Tensor.h>

#include "algorithms/off_policy/acting_policy.hpp"
#include "algorithms/off_policy/critic_autograd.hpp"

/// sac_learner's gradients by libtorch's autograd. All tensors float or all double, which is then
/// the arithmetic's precision.
namespace troupe::detail {

/// tanh(mean + exp(log_std) noise) [N, A] and its log-probability [N], of outputs [N, 2 A] and
/// noise [N, A]; as squashed_gaussian.
std::pair<at::Tensor, at::Tensor> sample_squashed_gaussian(const at::Tensor& outputs,
                                                           const at::Tensor& noise);

/// The actor's actions [N, A] and their log-probabilities [N] in obs [N, D]; its parameters are
/// `parameters` [P]. noise [N, A], or with use_sde one matrix [H, A]: as sac_actor.
std::pair<at::Tensor, at::Tensor> sample_actor(const acting_policy& actor,
                                               const at::Tensor& parameters, const at::Tensor& obs,
                                               const at::Tensor& noise);

/// reward + discount (1 - terminated) (min_i Q'_i(s', a') - alpha log pi(a'|s')), [B]
at::Tensor sac_targets(const acting_policy& actor, const at::Tensor& actor_parameters,
                       const critic_ensemble& critics, const at::Tensor& target,
                       const transition_batch& batch, const at::Tensor& next_noise, double alpha);

struct sac_actor_result {
  double loss = 0.0;  ///< mean of alpha log pi(a|s) - min_i Q_i(s, a)
  double mean_log_prob = 0.0;
  at::Tensor gradient;  ///< [P]
};
sac_actor_result sac_actor_gradient(const acting_policy& actor, const at::Tensor& actor_parameters,
                                    const critic_ensemble& critics,
                                    const at::Tensor& critic_parameters,
                                    const transition_batch& batch, const at::Tensor& noise,
                                    double alpha);

}  // namespace troupe::detail
