#pragma once
// Internal to sandbox/: starts bwrap in namespaces that hold a run's files.

#include <sys/types.h>

#include <array>
#include <string>
#include <vector>

#include "actors/sandbox/sandbox_numbers.hpp"

namespace troupe {

/// The process to start.
struct sandbox_process {
  const std::vector<std::string>* words;  ///< the command line of bwrap up to that of the program
  const std::vector<std::string>* command;
  /// The descriptors that become 0, 1, ... in the process; -1 leaves a number free.
  std::array<int, sandbox_numbers::count> descriptors;
  const char* space_options;      ///< those of the mount that holds the run's files
  const char *uid_map, *gid_map;  ///< those of a user namespace; unused if `user` is not 0
  int group;                      ///< where it becomes a member of its control group; -1 for none
  uid_t user;                     ///< the user to become, if this process is root's, else 0
};

/// Starts the process in a mount namespace of its own, where `sandbox_numbers::space` has the empty
/// folders tmp and shm. Throws std::system_error.
pid_t start_sandbox(const sandbox_process& what);

}  // namespace troupe
