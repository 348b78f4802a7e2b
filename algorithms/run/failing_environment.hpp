#pragma once
// The end of a run whose environments take no step any more.

#include <cstddef>
#include <string>

#include "runtime/coroutine/task.hpp"
#include "runtime/metrics/registry.hpp"

namespace troupe {

class training_run;

/// Throws environment_failed, with the last failure, once `count` environments of that name have
/// dropped five episodes each, on average, in 20 seconds or more in which none of them has taken a
/// step. Never returns otherwise.
task<> watch_environments(metrics_registry& metrics, std::string env, std::size_t count);

/// Awaits `training`, and watches the environments of the run meanwhile. An environment whose steps
/// hang drops one episode in env.step_timeout, so that attempts at whole rollouts would take hours.
/// Language models judge their worlds themselves, and a deterministic run has no real time, so
/// neither is watched.
task<> train_while_environments_step(training_run& run, task<> training);

}  // namespace troupe
