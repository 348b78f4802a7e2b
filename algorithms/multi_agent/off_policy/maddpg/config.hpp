#pragma once
// The options and the configurations of MADDPG and MATD3.

#include "actors/networks/joint_shape.hpp"
#include "algorithms/learner/reward_scaling.hpp"
#include "algorithms/multi_agent/agents_section.hpp"
#include "algorithms/off_policy/td3/config.hpp"

namespace troupe {

/// What critics see beside the actions of all agents.
enum class critic_input {
  observations,  ///< The observations of all agents.
  state,         ///< The global state of the environment.
};

/// The options of the update rule; `describe` has their units, ranges and meanings.
struct maddpg_options : td3_options {
  maddpg_options();

  double max_grad_norm = 0.5;
  reward_scaling normalize_reward = reward_scaling::none;
};

/// The options with which the rule is MATD3 (Ackermann et al. 2019,
/// https://arxiv.org/abs/1910.01465): two critics, delayed actors and noise on target actions.
maddpg_options matd3_options();

/// The configuration of a MADDPG run.
struct maddpg_config : off_policy_config_with<maddpg_options> {
  maddpg_config();

  agents_section agents;
  action_noise_options noise;
  critic_input critic = critic_input::observations;

  /// The shape of the networks for an environment. Throws std::invalid_argument that names the
  /// environment and the agent, if there is a single agent or one whose actions are not of a Box
  /// with finite bounds, and as shape_of_agents.
  network_shape shape_for(const env_spec& spec) const;
};

/// The configuration of a MATD3 run: that of MADDPG with matd3_options.
struct matd3_config : maddpg_config {
  matd3_config();
};

void describe(enum_schema<critic_input>& s);
void describe(options_schema<maddpg_options>& s);
void describe(options_schema<maddpg_config>& s);
void describe(options_schema<matd3_config>& s);

}  // namespace troupe
