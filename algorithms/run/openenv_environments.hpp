#pragma once
// `--env openenv:URL`: the environments of an OpenEnv server, whose numbers are trained on.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "actors/environments/vector_environment.hpp"
#include "actors/worlds/registry.hpp"

namespace troupe {

namespace openenv {
struct ended_episodes;
}

/// True for "openenv:URL", such as "openenv:http://localhost:8000", and for "openenv:NAME" where
/// env.options starts the servers.
bool names_openenv(std::string_view id);

/// How the environments of a server are trained on.
struct openenv_view {
  std::string option;                 ///< The option, env.options.view={...}.
  std::vector<std::string> left_out;  ///< What of the observation is not in it.
};

/// A factory of environments on a server (openenv::view_discovery.hpp). Each is a session. It is a
/// struct and no lambda, because a struct can be sent to another process. It throws openenv::error,
/// and std::invalid_argument for options that are wrong and for wrappers, which servers don't take.
struct openenv_environments {
  environment_request request;
  std::size_t count = 1;

  std::unique_ptr<vector_environment> operator()() const;
  /// Returns the view that they have. Asks the server once in this process.
  openenv_view view() const;
  /// Returns how the episodes of all such environments of this process have ended.
  std::shared_ptr<openenv::ended_episodes> ended() const;
};

/// Finds out whether the servers have room for so many environments that are trained on, and for
/// `evaluations` evaluations with up to `wanted` environments each at the same time. Returns the
/// number of environments that each evaluation can have, 1 to `wanted`, and keeps it for
/// openenv_room. Throws openenv::error with the number of sessions.
int find_openenv_room(const environment_request& request, int training, int evaluations,
                      int wanted);
/// Returns `wanted`, or fewer environments for which there is room according to find_openenv_room.
int openenv_room(const environment_request& request, int wanted);

}  // namespace troupe
