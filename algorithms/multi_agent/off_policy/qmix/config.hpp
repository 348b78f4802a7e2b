#pragma once
// The options and the configuration of QMIX.

#include "algorithms/multi_agent/off_policy/config.hpp"

namespace troupe {

/// What the mixing network sees.
enum class mixer_input {
  state,         ///< The global state of the environment.
  observations,  ///< The observations of all agents.
  none,          ///< Nothing: the mixing weights are the same everywhere.
};

/// The options of the mixing network; `describe` has their units, ranges and meanings. The width is
/// that of Rashid et al. 2018, https://arxiv.org/abs/1803.11485. The hidden layer of the networks
/// that make the weights is that of the authors' later code, PyMARL. Without an input it is their
/// ablation QMIX-NS.
struct mixer_section {
  mixer_input input = mixer_input::state;
  int embed_dim = 32;
  std::vector<int> hyper_hidden = {64};
};

/// The configuration of a QMIX run.
struct qmix_config : joint_q_config {
  qmix_config();

  mixer_section mixer;

  /// The shape of the networks for an environment. Throws std::invalid_argument as
  /// joint_q_config::shape_for, and if the mixer shall see a state that the environment doesn't
  /// have.
  network_shape shape_for(const env_spec& spec) const;
};

void describe(enum_schema<mixer_input>& s);
void describe(options_schema<mixer_section>& s);
void describe(options_schema<qmix_config>& s);

}  // namespace troupe
