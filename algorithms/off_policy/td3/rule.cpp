#include "actors/torch/torch.hpp"

#include "algorithms/off_policy/td3/rule.hpp"

#include <algorithm>

#include "actors/gradients/perceptron.hpp"
#include "algorithms/off_policy/td_target.hpp"

namespace troupe {

void draw_target_noise(action_random& random, double deviation, double clip,
                       std::span<float> noise) {
  const auto scale = static_cast<float>(deviation);
  const auto bound = static_cast<float>(clip);
  if (scale == 0.0f || bound == 0.0f) {
    std::ranges::fill(noise, 0.0f);
    return;
  }
  random.fill_normal(noise);
  for (auto& x : noise) x = std::clamp(scale * x, -bound, bound);
}

critic_fit td3_critic_loss(graph& g, const detail::network_stack& actor,
                           const parameter_block& target_actor,
                           const detail::critic_ensemble& critics,
                           const parameter_block& critic_parameters, const transition_batch& batch,
                           std::span<const float> noise, const bootstrap_rule& bootstrap) {
  const auto obs = g.constant(batch.obs, actor.inputs());
  const auto next_obs = g.constant(batch.next_obs, actor.inputs());
  const int actions = actor.outputs();

  const auto mu = forward(actor, next_obs, target_actor.frozen()).outputs;
  const auto next_action = clamp(mu + g.constant(noise, actions), -1.0f, 1.0f);
  const auto next_q = critics.values(next_obs, next_action, {critics.target()});
  const auto y = td_target(batch, bootstrap(next_q, batch));
  const auto q = critics.values(obs, g.constant(batch.action, actions), critic_parameters);
  return fit_critics(q, stop_gradient(y), batch.weight);
}

variable td3_actor_loss(graph& g, const detail::network_stack& actor,
                        const parameter_block& actor_parameters,
                        const detail::critic_ensemble& critics, const transition_batch& batch) {
  const auto obs = g.constant(batch.obs, actor.inputs());
  const auto action = forward(actor, obs, actor_parameters).outputs;
  return -mean(critics.first_value(obs, action, {critics.parameters()}));
}

}  // namespace troupe
