#pragma once

#include <string>

#include "actors/openenv/text/text_world.hpp"

namespace troupe::openenv_server {

/// Troupe's environment of that name as a server of it would play it, in this process and without a
/// network: also in deterministic systems. What a server refuses is an openenv::error here, too.
/// Throws std::invalid_argument for environments that aren't known, and for those that no session
/// can have.
openenv::world_maker local_worlds(const std::string& environment);

}  // namespace troupe::openenv_server
