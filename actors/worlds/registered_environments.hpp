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

  /// The environments have the allowances with which they keep the request's step_timeout and
  /// reset_timeout in a role of max_call_time_of(request.python). Throws what
  /// make_vector_environment and make_task_environments throw.
  std::unique_ptr<vector_environment> operator()() const;
};

/// Returns service_options::max_call_time for a role with environments that do not wait for another
/// process: the shorter of step_timeout and reset_timeout.
duration max_call_time_of(const python_options& limits);

}  // namespace troupe
