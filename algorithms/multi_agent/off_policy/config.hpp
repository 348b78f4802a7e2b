#pragma once
// The parts that the configurations of IQL, VDN and QMIX have in common.

#include <cstdint>
#include <string>
#include <vector>

#include "actors/networks/joint_shape.hpp"
#include "algorithms/learner/reward_scaling.hpp"
#include "algorithms/multi_agent/agents_section.hpp"
#include "algorithms/off_policy/collector.hpp"
#include "algorithms/off_policy/dqn/config.hpp"

namespace troupe {

/// The options of the update rules of IQL, VDN and QMIX.
struct joint_q_options : action_value_options {
  joint_q_options();

  reward_scaling normalize_reward = reward_scaling::none;
};

/// The base of the configurations.
struct joint_q_config : off_policy_config_with<joint_q_options> {
  joint_q_config();

  agents_section agents;
  epsilon_schedule exploration;

  /// The shape of the networks for an environment. Throws std::invalid_argument that names the
  /// environment and the agent, if there is a single agent or one whose actions are not Discrete,
  /// and as shape_of_agents.
  network_shape shape_for(const env_spec& spec) const;
};

/// Returns what agents are trained on, [N, N], for agent_results; empty means their own rewards.
std::vector<double> reward_shares_of(const agents_section& section, const network_shape& shape);

void describe(options_schema<joint_q_options>& s);

/// Describes the fields of joint_q_config for a Config derived from it.
template <class Config>
void describe_joint_q(options_schema<Config>& s) {
  describe_off_policy(s);
  describe_no_critic(s);
  describe_agents(s);
  s.field("exploration", &joint_q_config::exploration)
      .help("The share of random actions in collections, which each agent draws by itself.");
}

/// Describes what algorithms that train all agents on the reward of their team require.
template <class Config>
void describe_team(options_schema<Config>& s) {
  const auto algo = Config().algo;
  s.option(&Config::agents, &agents_section::frozen)
      .must_be("[] with " + algo + ", whose agents are one team",
               [](const Config& c) { return c.agents.frozen.empty(); });
  s.option(&Config::agents, &agents_section::scripted)
      .must_be("{} with " + algo + ", whose agents are one team",
               [](const Config& c) { return c.agents.scripted.empty(); });
  const auto why = algo + " trains all agents on the mean of their rewards";
  s.option(&Config::agents, &agents_section::shared_reward).has_no_effect(why);
  s.option(&Config::agents, &agents_section::team).has_no_effect(why);
  s.option(&Config::agents, &agents_section::reward_after_end).has_no_effect(why);
}

}  // namespace troupe
