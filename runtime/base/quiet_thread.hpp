#pragma once
// Threads that don't handle signals. Internal to the project.

#include <functional>
#include <thread>

namespace troupe::detail {

/// Starts a thread that blocks all signals, so that only the program's own threads handle them.
/// `name`, of at most 15 bytes, is shown by debuggers and top; null means the name of the parent.
std::thread quiet_thread(std::function<void()> run, const char* name = nullptr);

}  // namespace troupe::detail
