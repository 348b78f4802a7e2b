#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "actors/worlds/registry.hpp"

namespace troupe {

/// A factory of environments by their names, for hosted_environment. It is a struct and no lambda,
/// because a struct can be sent to another process.
struct registered_environments {
  environment_request request;
  std::vector<env_task> tasks = {};  ///< The tasks, whose names replace request.id; or empty.
  std::size_t count = 1;             ///< The number of environments.

  /// Throws what make_vector_environment and make_task_environments throw.
  std::unique_ptr<vector_environment> operator()() const;
};

}  // namespace troupe
