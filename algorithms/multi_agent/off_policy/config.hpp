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

/// The rules about options without effect.
std::vector<idle_rule> idle_rules_of(const joint_q_config& config);
/// The rules of algorithms that train all agents on the reward of their team.
std::vector<idle_rule> idle_rules_of_team(const joint_q_config& config);

/// Describes the fields of joint_q_config for a Config derived from it.
template <class Config>
void describe_joint_q(options_schema<Config>& s) {
  describe_off_policy(s);
  s.field("agents", &joint_q_config::agents)
      .help("Which policies play which agents, and what they are trained on.");
  s.field("exploration", &joint_q_config::exploration)
      .help("The share of random actions in collections, which each agent draws by itself.");
  option_rule(
      s, "replay.n_step", [](const Config&) { return "1 with several agents"; },
      [](const Config& c) { return c.replay.n_step == 1; });
  option_rule(
      s, "env.normalize_obs", [](const Config&) { return "false with several agents"; },
      [](const Config& c) { return !c.env.normalize_obs; });
  option_rule(
      s, "env.normalize_reward", [](const Config&) { return "false with several agents"; },
      [](const Config& c) { return !c.env.normalize_reward; });
}

/// Adds the rules of algorithms that train all agents on the reward of their team.
template <class Config>
void describe_team(options_schema<Config>& s) {
  option_rule(
      s, "agents.frozen",
      [](const Config& c) { return "no policies with " + c.algo + ", whose agents are one team"; },
      [](const Config& c) { return c.agents.frozen.empty(); });
  option_rule(
      s, "agents.scripted",
      [](const Config& c) { return "no policies with " + c.algo + ", whose agents are one team"; },
      [](const Config& c) { return !has_scripts(c.agents); });
}

/// Returns whether some policies are scripted.
bool has_scripts(const agents_section& section);

}  // namespace troupe
