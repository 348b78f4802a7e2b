#include "actors/torch/torch.hpp"

#include "algorithms/multi_agent/off_policy/maddpg/rule.hpp"

#include "actors/gradients/perceptron.hpp"
#include "algorithms/off_policy/td_target.hpp"

namespace troupe {
namespace {

/// The columns of x [R, X + ids], which end with the agent's number.
int columns_seen(const maddpg_networks& networks, std::size_t policy) {
  return static_cast<int>(networks.view_size() + networks[policy].ids);
}

/// The actions a of all agents with mu in place of the row's own, a_i.
variable with_own_action(const maddpg_networks& networks, std::size_t policy, variable x,
                         variable taken, variable mu) {
  std::vector<variable> parts;
  parts.reserve(networks.shape().agents.size());
  for (const auto& agent : networks.shape().agents) {
    const auto player = static_cast<std::size_t>(agent.policy);
    const auto a = slice(taken, agent.floats_begin, static_cast<int>(networks[player].actions));
    if (player != policy) {
      parts.push_back(a);
    } else if (networks[policy].ids == 0) {  // The policy plays this agent alone.
      parts.push_back(mu);
    } else {
      const auto is_own = slice(x, static_cast<int>(networks.view_size()) + agent.id, 1);
      parts.push_back(mu * is_own + a * (1.0f - is_own));
    }
  }
  return concat(parts);
}

}  // namespace

variable maddpg_target_actions(graph& g, const maddpg_networks::one& of,
                               const parameter_block& target_actor, std::span<const float> inputs,
                               std::span<const float> noise) {
  const auto next_obs = g.constant(inputs, of.actor.inputs());
  const auto mu = forward(of.actor, next_obs, target_actor.frozen()).outputs;
  return clamp(mu + g.constant(noise, mu.columns()), -1.0f, 1.0f);
}

critic_fit maddpg_critic_loss(graph& g, const maddpg_networks& networks, std::size_t policy,
                              const parameter_block& critic_parameters, const maddpg_rows& rows) {
  const auto& critics = networks[policy].critics;
  const int seen = columns_seen(networks, policy), actions = networks.shape().continuous_size;
  const auto x = g.constant(rows.batch.obs, seen);
  const auto next_x = g.constant(rows.batch.next_obs, seen);
  const auto action = g.constant(rows.batch.action, actions);
  const auto next_action = g.constant(rows.next_action, actions);

  const auto next_q = critics.values(next_x, next_action, {critics.target()});
  const auto y = td_target(rows.batch, row_min(next_q));
  return fit_critics(critics.values(x, action, critic_parameters), y, rows.batch.weight);
}

variable maddpg_actor_loss(graph& g, const maddpg_networks& networks, std::size_t policy,
                           const parameter_block& actor_parameters, const maddpg_rows& rows) {
  const auto& actor = networks[policy].actor;
  const auto& critics = networks[policy].critics;
  const auto x = g.constant(rows.batch.obs, columns_seen(networks, policy));
  const auto taken = g.constant(rows.batch.action, networks.shape().continuous_size);

  const auto mu = forward(actor, g.constant(rows.inputs, actor.inputs()), actor_parameters).outputs;
  const auto action = with_own_action(networks, policy, x, taken, mu);
  return -mean(critics.first_value(x, action, {critics.parameters()}));
}

}  // namespace troupe
