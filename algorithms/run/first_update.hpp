#pragma once
// Messages about a run whose first update takes long, so that a slow environment or network is told
// apart from a run that is stuck.

#include "runtime/coroutine/task.hpp"

namespace troupe {

class training_run;

/// Awaits `training`. Until the run has made its first update, a message says after 5 seconds, and
/// then at intervals that grow, how many steps there are and how long one takes. A deterministic
/// run has no such messages, because its time is virtual.
task<> train_with_messages(training_run& run, task<> training);

}  // namespace troupe
