#pragma once
// SAC (Haarnoja et al. 2018,
// https://arxiv.org/abs/1812.05905); see off_policy/off_policy.hpp for who
// is in it.

#include "algorithms/off_policy/off_policy.hpp"
#include "algorithms/off_policy/sac/sac_learner.hpp"

namespace troupe {

using sac_training = training_section<sac_options>;

struct sac_policy_section : hidden_section {
  bool use_sde = false;        ///< generalised state-dependent exploration
  bool use_expln = false;      ///< with use_sde: standard deviations grow slowly above 1
  int sde_sample_freq = -1;    ///< steps between draws of its noise; -1: one draw a collection
  float log_std_init = -3.0f;  ///< with use_sde: start of the log standard deviations

  network_options options(network_kind kind) const;
};

/// Everything that decides a SAC run. Defaults: Stable-Baselines3's.
struct sac_config : off_policy_config_with<sac_training, sac_policy_section> {
  sac_config() {
    algo = "sac";
    env.id = "Pendulum-v1";
  }
};

void describe(options_schema<sac_training>& s);
void describe(options_schema<sac_policy_section>& s);
void describe(options_schema<sac_config>& s);

std::vector<idle_rule> idle_rules_of(const sac_config& config);

/// For train_in and run_training.
trainable trainable_of(const sac_config& config);

}  // namespace troupe
