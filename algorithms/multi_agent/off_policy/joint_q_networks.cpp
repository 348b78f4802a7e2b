#include "algorithms/multi_agent/off_policy/joint_q_networks.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace troupe {

joint_q_networks::joint_q_networks(const network_shape& shape, const network_options& options)
    : shape_(shape), rows_(shape) {
  if (shape.agents.empty()) {
    throw std::invalid_argument("joint q (" + to_string(shape) + "): expected several agents");
  }
  auto of_values = options;
  of_values.kind = network_kind::q_values;
  for (const auto& policy : shape.policies) {
    const auto own = shape_of(policy);
    if (own.discrete_actions < 1 || own.action_size() != 1 || own.actor_inputs() < 1) {
      throw std::invalid_argument(
          fmt::format("policy \"{}\": expected agents with observations and one discrete choice, "
                      "got {}",
                      policy.name, to_string(own)));
    }
    of_policy_.push_back({detail::network_stack(own, of_values, own.discrete_actions), count_,
                          own.discrete_actions});
    count_ += of_policy_.back().stack.parameter_count();
  }
  for (const auto& agent : shape.agents) policy_of_agent_.push_back(agent.policy);
}

void joint_q_networks::initialise(action_random& random, bool orthogonal, float* parameters) const {
  for (const auto& each : of_policy_) {
    each.stack.initialise(random, orthogonal, 1.0, parameters + each.first);
  }
}

namespace detail {

void flags_of(const transition_batch& batch, const network_shape& shape,
              const std::vector<std::uint8_t>& trained, joint_flags& flags) {
  const auto count = shape.agents.size();
  const auto width = static_cast<std::size_t>(shape.obs_size);
  const auto rows = static_cast<std::size_t>(batch.rows);
  flags.acts.resize(rows * count);
  flags.goes_on.resize(rows * count);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t agent = 0; agent < count; ++agent) {
      const auto& view = shape.agents[agent];
      const auto at = row * count + agent;
      const auto acts_in = [&](const std::vector<float>& obs) {
        return view.active < 0 || obs[row * width + static_cast<std::size_t>(view.active)] != 0;
      };
      flags.acts[at] = trained[static_cast<std::size_t>(view.policy)] != 0 && acts_in(batch.obs);
      flags.goes_on[at] = batch.agent_terminated[at] == 0 && acts_in(batch.next_obs);
    }
  }
}

}  // namespace detail
}  // namespace troupe
