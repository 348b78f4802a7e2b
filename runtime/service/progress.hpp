#pragma once
// Lets a role whose endpoint works for long in one call show that it does not hang.

#include "runtime/coroutine/sleep.hpp"

namespace troupe {

/// In a plain endpoint: restarts the time after which the replica counts as hung, see
/// service_options::max_call_time. An endpoint that takes many steps in one call calls it after
/// each step, so that max_call_time limits a step and not the call. A step that may take longer
/// than others has an `allowance` >= 0, which is added to max_call_time until the next call. It
/// costs tens of nanoseconds, and has no effect outside of a role.
void note_progress(duration allowance = duration(0)) noexcept;

}  // namespace troupe
