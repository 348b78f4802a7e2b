#pragma once
// The options and the configuration of SAC.

#include <optional>

#include "algorithms/off_policy/config.hpp"

namespace troupe {

/// The options of SAC's update rule; `describe` has their units, ranges and meanings. The defaults
/// are those of Stable-Baselines3's SAC and its MlpPolicy.
struct sac_options : off_policy_options {
  sac_options() {
    lr = 3e-4;
    network.hidden = {256, 256};
  }

  int target_update_interval = 1;
  int n_critics = 2;
  std::optional<double> ent_coef = {};
  double initial_ent_coef = 1.0;
  std::optional<double> target_entropy = {};
};

struct sac_policy_section : hidden_section {
  bool use_sde = false;
  bool use_expln = false;
  int sde_sample_freq = -1;
  float log_std_init = -3.0f;

  network_options options(network_kind kind) const;
};

/// The configuration of a SAC run. The defaults are Stable-Baselines3's.
struct sac_config : off_policy_config_with<sac_options, sac_policy_section> {
  sac_config();
};

void describe(options_schema<sac_options>& s);
void describe(options_schema<sac_policy_section>& s);
void describe(options_schema<sac_config>& s);

}  // namespace troupe
