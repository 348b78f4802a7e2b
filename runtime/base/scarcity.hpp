#pragma once
// Threads that can't be had. Internal to the project.

#include <functional>

namespace troupe::detail {

/// Throws std::system_error if no thread can be started now. It starts one and waits for its end,
/// so that code which can't go on without a thread fails before it has begun.
void require_thread();

/// From here on `no_thread_is_left` decides whether the threads of this runtime can be started:
/// tests and simulations take them away with it. Null gives them back. Any thread may call it, and
/// the function itself is called on any thread.
void set_scarcity(std::function<bool()> no_thread_is_left);

/// Throws what std::thread's constructor throws, if `set_scarcity` says that no thread is left.
void check_scarcity();

}  // namespace troupe::detail
