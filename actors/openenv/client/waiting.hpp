#pragma once
// Internal to the OpenEnv client: waits for a coroutine on a thread that may block.

#include <utility>

#include "runtime/service/stop_token.hpp"
#include "runtime/system/system.hpp"

namespace troupe::openenv {

/// Runs a coroutine on the calling thread, which waits for it. If the system of the calling role
/// ends meanwhile, the coroutine is cancelled and call_error of kind cancelled is thrown.
template <class T>
T run_here(task<T> work) {
  troupe::system sys({.threads = 1});
  const std::stop_callback ending(system_stop_token(), [&sys] { sys.cancel(); });
  return sys.run(std::move(work));
}

}  // namespace troupe::openenv
