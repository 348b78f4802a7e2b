#pragma once
// The end of a run whose environments take no step any more.

#include "runtime/coroutine/task.hpp"

namespace troupe {

class training_run;

/// Awaits `training`. Throws environment_failed, with the last failure, once the environments have
/// dropped several episodes each, for a while in which none of them has taken a step. An
/// environment whose steps hang drops one episode in env.step_timeout, so that attempts at whole
/// rollouts would take hours. Language models judge their worlds themselves, and a deterministic
/// run has no real time, so neither is watched.
task<> train_while_environments_step(training_run& run, task<> training);

}  // namespace troupe
