#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <vector>

#include "runtime/base/descriptor.hpp"

namespace troupe::detail {

/// Where a child finds what it inherits beside standard input (/dev/null), output and error.
inline constexpr int inherited_socket = 3;
inline constexpr int inherited_memory = 4;
/// Tells a process that it is a child: the two numbers above, as in "3,4".
inline constexpr const char* child_variable = "TROUPE_CHILD";

/// How a child of this program is started.
struct child_options {
  std::vector<std::string> arguments = {};    ///< After argv[0]; for people who look at `ps`.
  std::vector<std::string> environment = {};  ///< "NAME=value", instead of this process's value.
  /// Bytes of private memory, threads' stacks included (RLIMIT_DATA); 0: no limit. A program with
  /// libtorch starts in 256 MiB. What allocates beyond it gets std::bad_alloc.
  std::size_t memory_limit = 0;
  int nice = 0;  ///< Added to this process's, 0 to 19.
};

/// The program that runs, once more. The child dies when the calling thread ends, SIGKILL included.
/// Throws std::system_error when it does not start.
pid_t spawn_self(const child_options& options, const descriptor& socket, const descriptor& memory);

}  // namespace troupe::detail
