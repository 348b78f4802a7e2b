#pragma once
// The checks of spaces, apart from the values that an environment gives.

#include <string>

#include "actors/environments/environment_report.hpp"
#include "actors/environments/space.hpp"

namespace troupe::detail {

/// Tells what is wrong with a space, and what other libraries don't take. `place` is "action space"
/// or "observation space". Returns false if no value of the space can be drawn or tested.
bool check_space(const space& of, const char* place, check_listener& to);

/// Does the same for a space of one of several agents, whose name is `key`. It doesn't tell what
/// libraries for a single agent don't take.
bool check_agent_space(const space& of, const char* place, const std::string& key,
                       check_listener& to);

}  // namespace troupe::detail
