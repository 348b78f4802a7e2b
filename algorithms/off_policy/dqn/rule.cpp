#include "actors/torch/torch.hpp"

#include "algorithms/off_policy/dqn/rule.hpp"

#include "actors/gradients/perceptron.hpp"
#include "algorithms/off_policy/td_target.hpp"

namespace troupe {

variable action_values(const detail::network_stack& net, variable x, const parameter_block& block,
                       bool dueling) {
  const auto outputs = forward(net, x, block).outputs;
  if (!dueling) return outputs;
  const auto value = slice(outputs, 0, 1);
  const auto advantage = slice(outputs, 1, outputs.columns() - 1);
  return advantage + (value - row_mean(advantage));
}

dqn_loss_terms dqn_loss(graph& g, const detail::network_stack& net, const parameter_block& online,
                        const parameter_block& target, const transition_batch& batch, bool dueling,
                        bool double_q) {
  const auto obs = g.constant(batch.obs, net.inputs());
  const auto next_obs = g.constant(batch.next_obs, net.inputs());
  const auto next = action_values(net, next_obs, target.frozen(), dueling);
  const auto best =
      argmax(double_q ? action_values(net, next_obs, online.frozen(), dueling) : next);
  const auto q = gather(action_values(net, obs, online, dueling), batch.choice);
  const auto error = q - td_target(batch, gather(next, best));
  return {mean(huber(error), batch.weight), mean(q), error};
}

}  // namespace troupe
