#pragma once
// The update rule of TD3 and DDPG.

#include <functional>
#include <span>

#include "actors/gradients/graph.hpp"
#include "actors/networks/network_stack.hpp"
#include "actors/random/action_random.hpp"
#include "algorithms/off_policy/critic_ensemble.hpp"
#include "algorithms/off_policy/critic_fit.hpp"
#include "algorithms/off_policy/transition_batch.hpp"

namespace troupe {

/// A rule that returns the bootstrap values [B, 1] of the next states, by which other algorithms
/// can differ from TD3. The critics are fitted to reward + discount (1 - terminated) value. `q` [B,
/// n_critics] are the values of the target critics for the target actor's actions with their noise.
/// TD3's rule is row_min(q), the smallest of them.
using bootstrap_rule = std::function<variable(variable q, const transition_batch& batch)>;

/// Draws the noise of target policy smoothing: normals times `deviation`, clipped to [-clip, clip].
/// It is 0, and nothing is drawn, if either number is 0.
void draw_target_noise(action_random& random, double deviation, double clip,
                       std::span<float> noise);

/// The loss of the critics. `noise` [B, A] is clipped noise on the target actor's actions.
critic_fit td3_critic_loss(graph& g, const detail::network_stack& actor,
                           const parameter_block& target_actor,
                           const detail::critic_ensemble& critics,
                           const parameter_block& critic_parameters, const transition_batch& batch,
                           std::span<const float> noise, const bootstrap_rule& bootstrap);

/// The loss of the actor, the mean of -Q1(s, mu(s)).
variable td3_actor_loss(graph& g, const detail::network_stack& actor,
                        const parameter_block& actor_parameters,
                        const detail::critic_ensemble& critics, const transition_batch& batch);

}  // namespace troupe
