#pragma once
// Threads that don't handle signals. Internal to the project.

#include <functional>
#include <thread>

namespace troupe::detail {

/// Starts a thread that blocks all signals, so that only the program's own threads handle them.
/// `name`, of at most 15 bytes, is shown by debuggers and top; null means the name of the parent.
/// Throws std::system_error if no thread can be started.
std::thread quiet_thread(std::function<void()> run, const char* name = nullptr);

/// The same for threads that stand for others in a simulation: check_scarcity doesn't refuse them.
std::thread quiet_thread_of_simulation(std::function<void()> run);

}  // namespace troupe::detail
