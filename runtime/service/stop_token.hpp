#pragma once
// Lets a role whose code blocks its thread learn that its system ends.

#include <stop_token>

namespace troupe {

/// Returns a token that is requested when the system of the calling role begins to end. A role that
/// waits for something other than a call, such as a reply of a program in its own code, ends its
/// wait then. Otherwise the system waits for it for system_options::stop_limit, and the process
/// exits with code 70. Outside of a role the token is never requested.
std::stop_token system_stop_token();

}  // namespace troupe
