#pragma once
// The options and the configuration of COMA.

#include <cstdint>

#include "algorithms/multi_agent/on_policy/config.hpp"

namespace troupe {

/// The options of COMA's update rule; `describe` has their units, ranges and meanings. The defaults
/// are those of the paper (Foerster et al. 2018, https://arxiv.org/abs/1705.08926, section 5) where
/// it has them: gae_lambda is the lambda of TD(lambda), batch_size and n_epochs are the critic's.
struct coma_options : on_policy_options {
  coma_options();

  double critic_lr = 1e-3;
  std::int64_t target_interval = 150;
};

/// The configuration of a COMA run.
struct coma_config : multi_agent_on_policy_config {
  coma_config();

  coma_options trainer;

  /// As multi_agent_on_policy_config's. Also throws std::invalid_argument that names the
  /// environment and the agent if an agent has other actions than one Discrete.
  network_shape shape_for(const env_spec& spec) const;
};

void describe(options_schema<coma_options>& s);
void describe(options_schema<coma_config>& s);

/// The options of the network that acts. It is an actor_critic, whose value is not used: it has no
/// hidden layers and is not trained. COMA's critics are beside it, in the learner.
network_options acting_network_of(const coma_config& config);
network_options without_critic(network_options network);

}  // namespace troupe
