#pragma once
// The JSON of requests and results, for HTTP and WebSockets.

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "actors/openenv/server/input_errors.hpp"
#include "actors/openenv/server/played_environment.hpp"

namespace troupe::openenv_server {

/// The arguments of a reset.
struct reset_request {
  std::optional<std::uint64_t> seed;
  std::optional<std::string> episode_id;  ///< at most 255 bytes
};

/// Reads {"seed": n, "episode_id": text}. Both are optional and may be null. Other keys are
/// ignored, as OpenEnv's servers ignore those that an environment does not know. Throws
/// invalid_input.
reset_request read_reset(const nlohmann::json& data, const input_errors::place& at);

/// Appends {"observation": {"obs": .., "terminated": .., "truncated": ..}, "reward": .., "done":
/// ..}. OpenEnv has only `done`, so the observation contains terminated and truncated.
void append_result(const space& observations, const played_environment::view& seen,
                   std::string& to);
/// Returns the JSON Schema of that observation.
nlohmann::json observation_schema(const space& observations);

/// Appends {"episode_id": .., "step_count": ..}.
void append_state(const std::optional<std::string>& episode_id, std::int64_t steps,
                  std::string& to);
/// Returns the JSON Schema of that state.
nlohmann::json state_schema();

/// Returns the JSON text on one line. Invalid UTF-8 is replaced.
std::string to_text(const nlohmann::json& value);

}  // namespace troupe::openenv_server
