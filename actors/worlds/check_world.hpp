#pragma once
// The checks of an environment that is chosen by its name, in C++ or in Python.

#include "actors/environments/environment_check.hpp"
#include "actors/worlds/registry.hpp"

namespace troupe {

/// Makes every check of the environment, and measures the speed of one without faults. An
/// environment in C++ is checked in a forked process, so that a crash or a call that never returns
/// is a fault like others; its calls have the deadlines of request.python. An environment in Python
/// is checked in its own process, and in the wrappers of this program if the request has some. Call
/// it before the program starts threads. Throws unknown_environment, and std::invalid_argument for
/// arguments that the environment doesn't have, and where the wrappers don't fit.
environment_report check_world(const environment_request& request, const check_options& options);

/// Checks environments that exist as vector environments only. `make` makes one of size 1. They are
/// checked in this process, so their own calls must have deadlines.
void check_vector_environments(const std::function<std::unique_ptr<vector_environment>()>& make,
                               const check_options& options, check_listener& to);

/// Measures their speed, if the report has no faults. `make` makes so many of them.
void measure_vector_environments(
    const std::function<std::unique_ptr<vector_environment>(std::size_t size)>& make,
    const check_options& options, environment_report& to);

}  // namespace troupe
