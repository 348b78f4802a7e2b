#pragma once
// TD3 (Fujimoto et al. 2018, https://arxiv.org/abs/1802.09477) and DDPG (Lillicrap et al. 2016,
// https://arxiv.org/abs/1509.02971) as algorithms for a run.
//
// Roles, collections and the order of an update are those of every off-policy algorithm
// (algorithms/off_policy/off_policy.hpp). TD3 and DDPG have their own gradient step (learner.hpp).

#include "algorithms/off_policy/learner_adapter.hpp"
#include "algorithms/off_policy/td3/config.hpp"
#include "algorithms/off_policy/td3/learner.hpp"

namespace troupe {

/// The metrics as columns of progress.csv.
named_values named(const td3_metrics& metrics);

/// Makes an algorithm for a run that differs from TD3 in its configuration, its targets or both.
/// Config is derived from td3_config and sets `algo` in its constructor. This function must be
/// declared beside it, and begins with describe_td3:
///
///   void describe(options_schema<Config>&)
template <class Config, class Json = nlohmann::json>
algorithm td3_algorithm(const Config& config, bootstrap_rule bootstrap = nullptr) {
  return algorithm_with(off_policy_algorithm_of<learner_adapter<td3_learner>, Config, Json>(
      config, network_kind::squashed, {.noise = config.noise}, std::move(bootstrap)));
}

/// The algorithms TD3 and DDPG with that configuration, for train().
algorithm algorithm_with(const td3_config& config);
algorithm algorithm_with(const ddpg_config& config);

}  // namespace troupe
