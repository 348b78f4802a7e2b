#pragma once

#include <functional>
#include <thread>

namespace troupe::detail {

/// A thread that signals pass by: they are for the program's own threads. `name`, at most 15
/// letters, is what debuggers and top call it; null: as its parent.
std::thread quiet_thread(std::function<void()> run, const char* name = nullptr);

}  // namespace troupe::detail
