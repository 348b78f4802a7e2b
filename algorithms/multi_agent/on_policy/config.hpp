#pragma once
// The parts that the configurations of on-policy algorithms with several agents have in common.

#include <string>
#include <vector>

#include "actors/networks/joint_shape.hpp"
#include "algorithms/multi_agent/agents_section.hpp"
#include "algorithms/on_policy/ppo/config.hpp"

namespace troupe {

/// The base of the configurations. `critic` says what the critics see beside an agent's own
/// observation; which algorithms offer it is theirs to say.
struct multi_agent_on_policy_config : on_policy_config {
  agents_section agents;
  central_input critic = central_input::none;

  /// The shape of the networks for an environment. Throws std::invalid_argument as joint_shape and
  /// policy_of_agents.
  network_shape shape_for(const env_spec& spec) const;
  /// Says which policies of `shape` learn, [policies].
  std::vector<std::uint8_t> trained(const network_shape& shape) const;
};

void describe(enum_schema<central_input>& s);

/// The options of PPO's update rule for agents. Value normalisation and the large gradient norm are
/// MAPPO's (Yu et al. 2022, https://arxiv.org/abs/2103.01955, appendix D). The other defaults that
/// differ from PPO's are the best of 30 random choices on simple_spread_v3 with 200,000 steps.
struct agent_ppo_options : ppo_options {
  agent_ppo_options();
};

void describe(options_schema<agent_ppo_options>& s);

/// The options of the network that acts. Its critic is the algorithm's.
network_options acting_network_of(const multi_agent_on_policy_config& config);

/// Sets the defaults that differ from those of a single agent, for environments whose episodes have
/// 25 steps.
void set_multi_agent_defaults(multi_agent_on_policy_config& config);

/// The options of the learners, including their network.
template <class Config>
ppo_options ppo_options_of(const Config& config) {
  ppo_options options = config.trainer;
  options.network = config.network();
  return options;
}

/// Describes the fields of multi_agent_on_policy_config for a Config derived from it that has a
/// section `trainer`.
template <class Config>
void describe_multi_agent_on_policy(options_schema<Config>& s) {
  describe_on_policy(s);
  describe_agents(s);
  describe_trainer(s);
  s.option(&on_policy_config::policy, &network_options::use_sde)
      .must_be("false with several agents", [](const Config& c) { return !c.policy.use_sde; });
}

/// Says when the trainer of a Config of agents that learn by PPO can have several ranks, whose rows
/// must all count alike.
template <class Config>
void describe_ranks(options_schema<Config>& s) {
  s.option(&Config::trainer, &on_policy_options::replicas)
      .must_be(
          "1 where agents get their share of the reward after their own ends "
          "(agents.reward_after_end)",
          [](const Config& c) {
            const bool after_end = c.agents.shared_reward > 0 && c.agents.reward_after_end;
            return c.trainer.replicas == 1 || !after_end;
          });
}

}  // namespace troupe
