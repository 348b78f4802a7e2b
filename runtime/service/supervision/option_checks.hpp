#pragma once

#include "runtime/service/options/options.hpp"
#include "runtime/service/role/role.hpp"

namespace troupe::detail {

/// Throws std::invalid_argument naming the service, the option, its value and what was expected.
void check_options(const serve_options& options);

/// What a system has for replicas that are placed elsewhere.
struct surroundings {
  bool simulated = false;          ///< It is deterministic: every place is simulated.
  bool listens = false;            ///< Nodes can join.
  bool may_have_children = false;  ///< The program's main can begin as a child process.
};

/// Throws std::invalid_argument if the role can't be made and called in another process.
void require_it_can_leave(const role_factory& factory, const serve_options& options,
                          const surroundings& around);

}  // namespace troupe::detail
