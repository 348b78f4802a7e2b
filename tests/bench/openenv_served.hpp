#pragma once
// The server half of the OpenEnv benchmark.

#include <nlohmann/json.hpp>

namespace troupe::openenv {

/// served_1_session_ratio, served_32_sessions_ratio: steps a second that `troupe serve-env` serves,
/// over those of the real Python server with a CartPole in Python, to the same client in the same
/// run (medians of pairs). Left out, with a line that says why, where that server can't be had.
void measure_served(nlohmann::json& results);

}  // namespace troupe::openenv
