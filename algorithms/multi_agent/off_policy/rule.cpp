#include "actors/torch/torch.hpp"

#include "algorithms/multi_agent/off_policy/rule.hpp"

#include <algorithm>

#include "actors/gradients/perceptron.hpp"
#include "algorithms/off_policy/td_target.hpp"

namespace troupe {
namespace {

struct joint_values {
  variable q;     ///< [B, N] The values of what the agents have chosen.
  variable next;  ///< [B, N] The target's values of their best next choices.
};

/// The values of all agents, 0 for those that don't count.
joint_values values_of(graph& g, const joint_q_networks& networks, const parameter_block& online,
                       const parameter_block& target, const joint_q_rows& rows, bool double_q) {
  const auto agents = static_cast<int>(networks.agents());
  const auto column_of = [&](const auto& value) {
    return networks.by_agents([&](std::size_t policy) {
      const auto& seen = rows.policies[policy];
      if (!seen.obs.empty()) return value(networks[policy], seen);
      const auto members = networks.rows().agents_of(policy).size();
      return g.constant(
          std::span(rows.zeros).first(rows.zeros.size() / networks.agents() * members));
    });
  };
  using one = joint_q_networks::one;
  using of_policy = joint_q_rows::of_policy;
  const auto q = column_of([&](const one& net, const of_policy& seen) {
    const auto obs = g.constant(seen.obs, net.stack.inputs());
    return gather(forward(net.stack, obs, online, net.first).outputs, seen.choice);
  });
  const auto next = column_of([&](const one& net, const of_policy& seen) {
    const auto obs = g.constant(seen.next_obs, net.stack.inputs());
    const auto values = forward(net.stack, obs, target.frozen(), net.first).outputs;
    const auto judged =
        double_q ? forward(net.stack, obs, online.frozen(), net.first).outputs : values;
    return gather(values, argmax(judged, seen.next_allowed));
  });
  return {q * g.constant(rows.acts, agents), next * g.constant(rows.goes_on, agents)};
}

joint_q_loss_terms team_loss(graph& g, const joint_q_networks& networks, value_mixer& mixer,
                             const parameter_block& online, const parameter_block& target,
                             const transition_batch& batch, const joint_values& values) {
  const auto width = networks.shape().obs_size;
  const auto first = networks.parameter_count();
  const auto next_total =
      mixer.mix(g.constant(batch.next_obs, width), values.next, target.frozen(), first);
  const auto total = mixer.mix(g.constant(batch.obs, width), values.q, online, first);
  const auto error = total - td_target(batch, next_total);
  return {mean(square(error), batch.weight), mean(total), error};
}

joint_q_loss_terms agents_loss(graph& g, const transition_batch& batch, const joint_q_rows& rows,
                               const joint_values& values) {
  const int agents = values.q.columns();
  const auto goes_on = 1.0f - g.constant(batch.agent_terminated, agents);
  const auto y =
      g.constant(batch.agent_reward, agents) + goes_on * g.constant(batch.discount) * values.next;
  const auto error = (values.q - y) * g.constant(rows.acts, agents);
  const auto acting = static_cast<float>(std::max<std::int64_t>(rows.acting, 1));
  return {sum(reshape(square(error), 1), rows.share), 1.0f / acting * sum(reshape(values.q, 1)),
          error};
}

}  // namespace

joint_q_loss_terms joint_q_loss(graph& g, const joint_q_networks& networks, value_mixer* mixer,
                                const parameter_block& online, const parameter_block& target,
                                const transition_batch& batch, const joint_q_rows& rows,
                                bool double_q) {
  const auto values = values_of(g, networks, online, target, rows, double_q);
  if (mixer) return team_loss(g, networks, *mixer, online, target, batch, values);
  return agents_loss(g, batch, rows, values);
}

}  // namespace troupe
