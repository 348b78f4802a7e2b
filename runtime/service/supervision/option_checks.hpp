#pragma once

#include "runtime/service/options/options.hpp"
#include "runtime/service/role/role.hpp"

namespace troupe::detail {

/// Throws a std::invalid_argument that names the service, the option, its value and what was
/// expected.
void check_options(const serve_options& options);

/// The abilities of a system that matter for replicas in other processes.
struct system_capabilities {
  bool simulated = false;  ///< True if the system is deterministic and simulates every place.
  bool listens = false;    ///< True if nodes can join.
  bool may_have_children = false;  ///< The program's main can begin as a child process.
};

/// Throws std::invalid_argument if the role can't be made and called in another process.
void require_it_can_leave(const role_factory& factory, const serve_options& options,
                          const system_capabilities& around);

}  // namespace troupe::detail
