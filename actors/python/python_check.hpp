#pragma once
// The checks of an environment in Python, which its own process makes (troupe_worker/check.py).

#include "actors/environments/environment_check.hpp"
#include "actors/python/python_environment.hpp"
#include "actors/python/python_worker.hpp"

namespace troupe {

/// Returns how long a call that a check makes may take.
call_limit limit_of(const environment_call& call, const python_options& options);

/// Checks the environment in the wrappers in Python, without those of this program. A call that
/// doesn't return in its time, or ends the process, is a fault that ends the checks. Throws
/// python_error if the environment can't be found, if a package is missing, and for arguments that
/// it doesn't have.
void check_python_environment(const environment_request& request, const check_options& options,
                              check_listener& to);

/// Measures how fast Python alone steps `copies` environments in turn, in a process of its own.
/// Throws python_error and python_ended.
environment_speed measure_python_environment(const environment_request& request,
                                             std::int64_t copies, const check_options& options);

}  // namespace troupe
