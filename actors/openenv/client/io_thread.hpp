#pragma once
// Internal to this folder: the thread of all OpenEnv sessions.

#include <memory>

#include "runtime/net/io_thread.hpp"

namespace troupe::openenv {

/// The thread that reads and writes for every OpenEnv session of this process. It starts with its
/// first owner and ends with its last owner, which must be on another thread.
class io_thread : public troupe::detail::io_thread {
 public:
  static std::shared_ptr<io_thread> of_this_process();
  io_thread() : troupe::detail::io_thread("troupe-openenv") {}
};

}  // namespace troupe::openenv
