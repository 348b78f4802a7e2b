#pragma once
// For the main of a program that runs replicas in processes for other programs; see
// serve_options::program. Such a program can be smaller than the one that serves the role:
//
//     int main() {
//       return troupe::host_roles({troupe::role_made_from<counter, int>::with<&counter::add>()});
//     }

#include <vector>

#include "runtime/service/call/call.hpp"
#include "runtime/service/role/role_constructor.hpp"

namespace troupe {

/// A role that this program has, and the calls that it can answer.
struct role_to_host {
  const detail::role_constructor* constructor;
  std::vector<const detail::call_kind*> calls;
};

/// Names a role by its class and the types of the arguments that `system::serve` gets for it.
template <class Role, class... A>
struct role_made_from {
  /// Names the endpoints that handles of type service<Role> call. Other calls end with a
  /// wire_error.
  template <auto... F>
  static role_to_host with() {
    return {&detail::constructor_of<Role, A...>, {&detail::call_of<F, Role>::registered()...}};
  }
};

/// Runs a replica of one of the roles if this process was started for one, and then doesn't return.
/// In any other process it prints what the program is for and returns 2. Call it first in main.
int host_roles(const std::vector<role_to_host>& roles);

}  // namespace troupe
