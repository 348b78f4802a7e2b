#pragma once
// Troupe's environments behind the interface of OpenEnv's, without a server.

#include <string>

#include "actors/openenv/text/text_view.hpp"

namespace troupe::openenv_server {

/// Returns a function that makes Troupe's environment of that name. It behaves as on a server, but
/// in this process and without a network, so it also works in deterministic systems. A refusal of
/// the server is an openenv::error here too. Throws std::invalid_argument for unknown environments,
/// and for those that a session can't have.
openenv::world_maker local_worlds(const std::string& environment);

}  // namespace troupe::openenv_server
