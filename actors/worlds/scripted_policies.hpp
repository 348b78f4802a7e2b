#pragma once
// Scripted policies by name: "random" for any agents, those of the built-in environments, and those
// that a program registers.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "actors/environments/scripted_policy.hpp"

namespace troupe {

using scripted_policy_factory =
    std::function<std::unique_ptr<scripted_policy>(const scripted_policy_request&)>;

/// Registers a scripted policy. Throws std::invalid_argument if the name is empty or taken. Any
/// thread may call this function and the others of this header.
void register_scripted_policy(std::string name, scripted_policy_factory make);

/// Makes the policy of that name. Throws std::invalid_argument, which lists the known names, for a
/// name that is not registered, and for actions that the policy does not give.
std::unique_ptr<scripted_policy> make_scripted_policy(const scripted_policy_request& request);

/// Returns the registered names, sorted.
std::vector<std::string> known_scripted_policies();

}  // namespace troupe
