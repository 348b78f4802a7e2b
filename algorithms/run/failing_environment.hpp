#pragma once
// The end of a run whose environments take no step any more.

#include <chrono>
#include <cstddef>
#include <string>

#include "actors/metrics/training_metrics.hpp"
#include "runtime/coroutine/task.hpp"
#include "runtime/metrics/registry.hpp"

namespace troupe {

class training_run;

/// The environments of a run.
struct watched_environments {
  std::string id;
  std::size_t count = 1;  ///< In all replicas together.
  std::size_t replicas = 1;
  std::chrono::duration<double> reset_timeout = std::chrono::seconds(60);
};

/// Throws environment_failed, with the last failure, once the environments have failed while none
/// of them has taken a step: they have dropped five episodes each, on average, in 20 seconds or
/// more, or two rollouts for each replica have failed in five times the reset_timeout, and 20
/// seconds, or more. `metrics` has the counts of the environments, and `rollouts` those of the
/// loop. Never returns otherwise.
task<> watch_environments(metrics_registry& metrics, training_metrics rollouts,
                          watched_environments of);

/// Awaits `training`, and watches the environments of the run meanwhile. An environment whose steps
/// hang drops one episode in env.step_timeout, so that attempts at whole rollouts would take hours.
/// Language models judge their worlds themselves, and a deterministic run has no real time, so
/// neither is watched.
task<> train_while_environments_step(training_run& run, task<> training);

}  // namespace troupe
