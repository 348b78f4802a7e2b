#include "actors/torch/torch.hpp"

#include "algorithms/off_policy/sac/rule.hpp"

#include <utility>

#include "actors/gradients/perceptron.hpp"
#include "algorithms/off_policy/td_target.hpp"

namespace troupe {

squashed_actions draw_actions(const acting_policy& policy, variable x, const parameter_block& block,
                              std::span<const float> noise) {
  const auto [features, outputs] = forward(policy.stack(), x, block);
  if (!policy.use_sde()) return squashed_gaussian(outputs, noise);
  const auto log_std = x.owner().parameter(block, policy.stack().parameter_count(),
                                           features.columns(), outputs.columns());
  return squashed_noise(outputs, features, log_std, noise, policy.use_expln());
}

critic_fit sac_critic_loss(graph& g, const acting_policy& actor,
                           const detail::critic_ensemble& critics,
                           const parameter_block& critic_parameters, const transition_batch& batch,
                           std::span<const float> next_noise, float alpha) {
  const auto& shape = actor.shape();
  const auto obs = g.constant(batch.obs, shape.obs_size);
  const auto next_obs = g.constant(batch.next_obs, shape.obs_size);
  const auto action = g.constant(batch.action, shape.continuous_size);

  const auto next = draw_actions(actor, next_obs, {actor.parameters()}, next_noise);
  const auto next_q = critics.values(next_obs, next.action, {critics.target()});
  const auto y = td_target(batch, row_min(next_q) - alpha * next.log_prob);
  auto fit = fit_critics(critics.values(obs, action, critic_parameters), y, batch.weight);
  fit.loss = 0.5f * fit.loss;
  return fit;
}

sac_actor_loss_terms sac_actor_loss(graph& g, const acting_policy& actor,
                                    const parameter_block& actor_parameters,
                                    const detail::critic_ensemble& critics,
                                    const transition_batch& batch, std::span<const float> noise,
                                    float alpha) {
  const auto obs = g.constant(batch.obs, actor.shape().obs_size);
  const auto [action, log_prob] = draw_actions(actor, obs, actor_parameters, noise);
  const auto q = row_min(critics.values(obs, action, {critics.parameters()}));
  return {mean(alpha * log_prob - q), mean(log_prob)};
}

}  // namespace troupe
