#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "actors/environments/environment.hpp"
#include "actors/environments/vector_environment.hpp"
#include "actors/environments/wrappers.hpp"

namespace troupe {

/// A factory of environments by their names in the registry, for hosted_environment. It is a struct
/// and no lambda, because a struct can be sent to another process.
struct registered_environments {
  std::string id;               ///< The environment; ignored if there are tasks.
  std::vector<env_task> tasks;  ///< The tasks of a task_environment, or empty.
  wrapper_options wrappers;
  std::size_t count = 1;  ///< The number of environments.

  /// Throws unknown_environment, and std::invalid_argument if a wrapper does not fit.
  std::unique_ptr<vector_environment> operator()() const;
};

}  // namespace troupe
