#pragma once
// The sections that the configurations of all algorithms have in common.

#include <cstdint>
#include <optional>
#include <string>

#include "actors/policy/network.hpp"
#include "algorithms/annealing.hpp"
#include "runtime/config/config.hpp"

namespace troupe {

/// How rollouts and training are composed.
enum class training_mode {
  sync,   ///< Rollouts, then an update with them, in turn.
  async,  ///< Rollouts go on while the trainer trains, within a staleness bound.
};

struct env_section {
  std::string id = "CartPole-v1";
  int n_envs = 1;                 ///< B, environments of one replica, stepped in one message
  int replicas = 1;               ///< In async mode at least as many as rollout.workers.
  bool normalize_obs = false;     ///< observations: by running mean and variance, cut to +-10
  bool normalize_reward = false;  ///< rewards: by the deviation of discounted returns, cut to +-10
};

struct evaluation_section {
  std::int64_t every_steps = 10'000;  ///< 0: only at the end
  int episodes = 10;                  ///< of an evaluation during training
  int final_episodes = 100;           ///< of the one at the end
  std::optional<double> stop_at;      ///< mean return of one during training that ends it
};

struct checkpoint_section {
  std::int64_t every_updates = 0;  ///< 0: no checkpoints
  int keep = 3;                    ///< the newest that stay on the disk
};

void describe(enum_schema<training_mode>& s);
void describe(enum_schema<activation>& s);
void describe(enum_schema<annealing>& s);
void describe(options_schema<env_section>& s);
void describe(options_schema<evaluation_section>& s);
void describe(options_schema<checkpoint_section>& s);

}  // namespace troupe
