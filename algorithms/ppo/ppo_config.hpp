#pragma once

#include <cstdint>
#include <string>

#include "algorithms/ppo/ppo_options.hpp"
#include "runtime/config/config.hpp"
#include "runtime/service/fault_plan.hpp"

namespace troupe {

/// How rollouts and training are composed.
enum class training_mode {
  sync,   ///< On-policy: rollouts, then an update with them, in turn.
  async,  ///< Rollouts go on while the trainer trains, within a staleness bound.
};

struct env_section {
  std::string id = "CartPole-v1";
  int n_envs = 1;    ///< B, environments of one replica, stepped in one message
  int replicas = 1;  ///< In async mode at least as many as rollout.workers.
};

struct rollout_section {
  int n_steps = 2048;     ///< T, steps of each environment in a rollout
  int batch = 1;          ///< rollouts of one update
  int workers = 2;        ///< rollouts under way at once in async mode
  int max_staleness = 1;  ///< versions a rollout may be behind the trainer in async mode
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

/// Everything that decides a PPO run. Defaults: Stable-Baselines3's.
struct ppo_config {
  env_section env;
  std::int64_t total_steps = 100'000;  ///< at least; whole rollouts are made
  std::uint64_t seed = 1;
  training_mode mode = training_mode::sync;
  rollout_section rollout;
  ppo_options trainer;  ///< its n_steps and network are taken from `rollout` and `policy`
  network_options policy;
  evaluation_section evaluation;
  checkpoint_section checkpoint;
  bool deterministic = false;  ///< one thread, virtual time, an order drawn from the seed
  /// What goes wrong on purpose in a deterministic run: a fault_plan as text; empty: nothing.
  std::string faults;

  /// The learner's options, with rollout.n_steps and the network.
  ppo_options learner() const;
  /// Environment steps of one update.
  std::int64_t steps_of_update() const;
  /// Updates until total_steps are reached.
  std::int64_t updates() const;
  /// `faults`, read. Throws fault_plan_error.
  fault_plan plan() const;
};

void describe(enum_schema<training_mode>& s);
void describe(enum_schema<activation>& s);
void describe(enum_schema<lr_schedule>& s);
void describe(options_schema<env_section>& s);
void describe(options_schema<rollout_section>& s);
void describe(options_schema<evaluation_section>& s);
void describe(options_schema<checkpoint_section>& s);
void describe(options_schema<network_options>& s);
void describe(options_schema<ppo_options>& s);
void describe(options_schema<ppo_config>& s);

}  // namespace troupe
