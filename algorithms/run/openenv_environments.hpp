#pragma once
// `--env openenv:URL`: the environments of an OpenEnv server whose schema has numbers.

#include <memory>
#include <string_view>

#include "actors/environments/vector_environment.hpp"
#include "actors/worlds/registry.hpp"

namespace troupe {

/// True for "openenv:URL", such as "openenv:http://localhost:8000".
bool names_openenv(std::string_view id);

/// A factory of environments on a server (openenv::served_spec). Each is a session. It is a struct
/// and no lambda, because a struct can be sent to another process. It throws openenv::error, and
/// std::invalid_argument for options and wrappers, which servers don't take.
struct openenv_environments {
  environment_request request;
  std::size_t count = 1;

  std::unique_ptr<vector_environment> operator()() const;
};

}  // namespace troupe
