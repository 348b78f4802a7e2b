#pragma once
// The checks of spaces, apart from the values that an environment gives.

#include "actors/environments/environment_report.hpp"
#include "actors/environments/space.hpp"

namespace troupe::detail {

/// Tells what is wrong with a space, and what other libraries don't take. `place` is "action space"
/// or "observation space". Returns false if no value of the space can be drawn or tested.
bool check_space(const space& of, const char* place, check_listener& to);

}  // namespace troupe::detail
