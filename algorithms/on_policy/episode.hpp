#pragma once

#include <cstdint>
#include <memory>

#include "actors/environments/hosted_environment.hpp"
#include "actors/policy/policy.hpp"
#include "actors/replay/replay_queue.hpp"
#include "algorithms/on_policy/rollout.hpp"

namespace troupe {

/// The services that PPO's rollouts are made with.
struct rollout_roles {
  service<hosted_environment> environments;
  service<policy> policies;
  service<replay_queue<rollout>> replay;
  std::int64_t n_steps = 2048;
  std::size_t groups = 1;      ///< Replicas of environments that one rollout takes.
  bool deterministic = false;  ///< Takes the likeliest action: for evaluation.
  int sde_sample_freq = -1;    ///< Steps after which other noise is explored by; -1: a rollout's.
  /// Of observations and rewards. Null: the policy is given observations as they are, and rewards
  /// stay so.
  std::shared_ptr<run_normalizer> normalizer = nullptr;
};

/// The episode function of PPO, for every loop: T steps on one replica of the environments, which
/// no other rollout uses meanwhile, by whatever weights the policies have. Where the replica dies
/// it goes on with another's: that costs the episodes under way, not the rollout.
///
/// With several groups, each a replica, one group's environments step while the policy acts for
/// another's. It acts for them in turn, in the order of the replicas: what comes out is that of as
/// many environments in one replica, if they are seeded alike; but for normalised observations, as
/// a group's are normalised before those after it have stepped.
task<rollout> generate_rollout(rollout_roles roles);

}  // namespace troupe
