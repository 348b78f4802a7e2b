#pragma once
// The services of a PPO run: served, and taken into and out of a checkpoint. Internal to ppo/.

#include <functional>

#include "actors/checkpoint/checkpoint_directory.hpp"
#include "actors/evaluator/evaluator.hpp"
#include "actors/trainer/trainer.hpp"
#include "actors/training_metrics.hpp"
#include "algorithms/ppo/ppo.hpp"
#include "algorithms/ppo/rollout_learner.hpp"

namespace troupe::detail {

using ppo_trainer = trainer<rollout_learner>;

/// How far a run has come.
struct ppo_progress {
  std::int64_t version = 0;     ///< Of the weights in use: updates done.
  std::int64_t steps = 0;       ///< Environment steps trained on.
  std::int64_t episodes = 0;    ///< Rollouts that the loop generated.
  std::int64_t failed = 0;      ///< Rollouts that ended with an error.
  loops::score_history scores;  ///< The means of the evaluations.
  bool stopped = false;         ///< A callback or a stop rule has ended training.
  double wall = 0;              ///< Seconds in the loop.
  double overlapped = 0;        ///< Seconds in which rollouts and training both ran.
};

/// The cast of a run, and what its coroutines share. It outlives them all.
struct production {
  production(system& sys, ppo_config config, ppo_output output, ppo_callbacks callbacks);
  /// Stops the services, those that call others first.
  ~production();
  production(const production&) = delete;

  system& sys;
  const ppo_config config;
  const ppo_output output;
  const ppo_callbacks callbacks;
  const env_spec spec;
  const network_shape shape;
  const training_metrics metrics;

  service<weight_store> store;
  service<ppo_trainer> learner;
  service<evaluator> judge;
  service<recorder> records;
  service<hosted_environment> exam;  ///< The environments of the evaluation at the end.
  rollout_roles roles;
  run_directory directory = run_directory::open(".");

  ppo_progress done;
  /// Asked after each update, on the loop's actor; true ends the loop. May be null.
  std::function<bool()> stop_asked;
};

/// Options of a role that may die at any moment: a call that is lost with it is made again, if it
/// is one of the `idempotent`. Injected faults say nothing about a role or a call, so none is given
/// up for them.
serve_options restartable(const production& p, serve_options options,
                          std::vector<const endpoint_info*> idempotent);

/// Environments as an environment role makes them.
hosted_environment::factory environments_of(const ppo_config& config, int count);

/// Serves every role but the exam. Where `from` is given, all of them go on from it: in
/// `output.directory`, else in a new run directory. Throws state_error if `from` is of another
/// configuration.
task<> serve_cast(production& p, const checkpoint* from);

/// How far the run had come at that checkpoint. Throws state_error.
ppo_progress progress_of(const checkpoint& from);

/// The state of every role, each of which is at rest.
task<checkpoint> save_cast(production& p);

/// What its checkpoints are of.
checkpoint_kind kind_of(const ppo_config& config);

}  // namespace troupe::detail
