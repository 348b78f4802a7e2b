#pragma once
// The server half of the OpenEnv benchmark.

#include <nlohmann/json.hpp>

namespace troupe::openenv {

/// served_{1_session,32_sessions}_{raw_load,python_client}_ratio: steps a second that `troupe
/// serve-env` serves, over those of the real Python server with a CartPole in Python, to the same
/// client in the same run (medians of pairs). The raw load generator (openenv_load.hpp) costs
/// little itself; the real Python client has most of the time for itself. Left out, with a line
/// that says why, where the Python package can't be had.
///
/// at_once_600_{raw_load,python_client}_failures: of 600 clients of `troupe serve-env` at once.
void measure_served(nlohmann::json& results);

}  // namespace troupe::openenv
