#include "algorithms/multi_agent/off_policy/config.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace troupe {

joint_q_options::joint_q_options() {
  lr = 1e-3;
  gamma = 0.9;
  batch_size = 256;
  target_update_interval = 1;
  tau = 0.01;
  double_q = true;
}

joint_q_config::joint_q_config() {
  env.id = "simple_spread_v3";
  env.n_envs = 8;
  collection.learning_starts = 1000;
  policy.hidden = {64, 64};
}

network_shape joint_q_config::shape_for(const env_spec& spec) const {
  if (spec.agents.empty()) {
    throw std::invalid_argument(fmt::format(
        "{}: expected an environment with several agents, got {}, which has one; dqn learns on it",
        algo, spec.id));
  }
  for (const auto& agent : spec.agents) {
    if (agent.action_space.get_if<spaces::discrete>()) continue;
    throw std::invalid_argument(fmt::format(
        "{}: expected agents with actions of Discrete, got {}, whose agent \"{}\" has {}; ippo and "
        "mappo take any",
        algo, spec.id, agent.name, to_string(agent.action_space)));
  }
  return shape_of_agents(agents, spec, central_input::none, env.options.text);
}

std::vector<double> reward_shares_of(const agents_section& section, const network_shape& shape) {
  if (section.shared_reward == 0) return {};
  const auto count = shape.agents.size();
  std::vector<double> shares(count * count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto in_team = [&](const agent_view& other) {
      return section.team == reward_team::all || other.policy == shape.agents[i].policy;
    };
    const auto members = static_cast<double>(std::ranges::count_if(shape.agents, in_team));
    for (std::size_t k = 0; k < count; ++k) {
      if (in_team(shape.agents[k])) shares[i * count + k] = section.shared_reward / members;
    }
    shares[i * count + i] += 1 - section.shared_reward;
  }
  return shares;
}

void describe(options_schema<joint_q_options>& s) {
  describe_action_values(s);
  describe_reward_scaling(s, &joint_q_options::normalize_reward);
}

}  // namespace troupe
