#pragma once
// The program `env-host`. It runs Troupe's own environments in processes that don't load libtorch.

#include <string>

#include "actors/worlds/registered_environments.hpp"
#include "runtime/system/host_roles.hpp"

namespace troupe {

/// Returns the path of env-host for serve_options::program. It is empty if find_installed does not
/// find the program, and if the program is of another build of Troupe, which the log says.
std::string environment_host();

/// True if env-host can make these environments. It has those of Troupe, in Python and in plug-ins,
/// but not those that this program has registered.
bool environment_host_has(const registered_environments& environments);

/// The role of env-host: hosted_environment, made from a factory that is registered_environments, a
/// seed, observers_of a run's metrics, a discount and a number of groups.
role_to_host role_of_environment_host();

}  // namespace troupe
