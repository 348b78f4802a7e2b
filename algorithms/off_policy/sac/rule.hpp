#pragma once
// SAC's update rule.

#include <span>

#include "actors/gradients/graph.hpp"
#include "algorithms/losses/squashed_gaussian.hpp"
#include "algorithms/off_policy/acting_policy.hpp"
#include "algorithms/off_policy/critic_ensemble.hpp"
#include "algorithms/off_policy/critic_fit.hpp"
#include "algorithms/off_policy/transition_batch.hpp"

namespace troupe {

/// Draws actions of the policy in the states x [rows, D]. `noise` [rows, A], or with use_sde one
/// matrix [H, A] for all rows, is standard normal.
squashed_actions draw_actions(const acting_policy& policy, variable x, const parameter_block& block,
                              std::span<const float> noise);

/// The loss of the critics, half the sum of their mean squared errors. `alpha` is the weight of the
/// entropy.
critic_fit sac_critic_loss(graph& g, const acting_policy& actor,
                           const detail::critic_ensemble& critics,
                           const parameter_block& critic_parameters, const transition_batch& batch,
                           std::span<const float> next_noise, float alpha);

struct sac_actor_loss_terms {
  variable loss;      ///< [1, 1] The mean of alpha log pi(a|s) - min Q(s, a).
  variable log_prob;  ///< [1, 1] The mean of log pi(a|s).
};

sac_actor_loss_terms sac_actor_loss(graph& g, const acting_policy& actor,
                                    const parameter_block& actor_parameters,
                                    const detail::critic_ensemble& critics,
                                    const transition_batch& batch, std::span<const float> noise,
                                    float alpha);

}  // namespace troupe
