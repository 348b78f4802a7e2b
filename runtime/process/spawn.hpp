#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <vector>

#include "runtime/base/descriptor.hpp"

namespace troupe::detail {

/// The descriptors that a child inherits besides standard input (/dev/null), output and error.
inline constexpr int inherited_socket = 3;
inline constexpr int inherited_memory = 4;
/// The variable that tells a process that it is a child. Its value is the two numbers above, as in
/// "3,4".
inline constexpr const char* child_variable = "TROUPE_CHILD";

/// The options of a child of this program.
struct child_options {
  /// The path of the program to execute; empty means this program.
  std::string program = {};
  /// The arguments after argv[0]; they are for people who look at `ps`.
  std::vector<std::string> arguments = {};
  /// Entries "NAME=value" that replace this process's values.
  std::vector<std::string> environment = {};
  /// The limit of private memory in bytes, threads' stacks included (RLIMIT_DATA); 0 means no
  /// limit. A program with libtorch starts in 256 MiB. An allocation beyond the limit throws
  /// std::bad_alloc.
  std::size_t memory_limit = 0;
  int nice = 0;  ///< The number from 0 to 19 that is added to this process's nice value.
};

/// Starts a program. The child is killed when the calling thread ends, even if SIGKILL ends it.
/// `output` becomes its standard output and error; without one it has this process's. Throws
/// std::system_error if the child doesn't start.
pid_t spawn(const child_options& options, const descriptor& socket, const descriptor& memory,
            const descriptor& output = {});

}  // namespace troupe::detail
