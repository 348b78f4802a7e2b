#pragma once
// What a client asks of an environment, read from JSON, and what it is told. The same over HTTP and
// over a WebSocket.

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "actors/openenv/server/input_errors.hpp"
#include "actors/openenv/server/played_environment.hpp"

namespace troupe::openenv_server {

struct reset_request {
  std::optional<std::uint64_t> seed;
  std::optional<std::string> episode_id;  ///< At most 255 bytes.
};

/// Reads {"seed": n, "episode_id": text}, both optional and nullable; other keys are let pass, as
/// OpenEnv's servers do with what an environment does not know. Throws invalid_input.
reset_request read_reset(const nlohmann::json& data, const input_errors::place& at);

/// Appends {"observation": {"obs": .., "terminated": .., "truncated": ..}, "reward": .., "done":
/// ..}. OpenEnv has but `done`; the two facts it mixes stand in the observation.
void append_result(const space& observations, const played_environment::view& seen,
                   std::string& to);
/// The JSON Schema of that observation.
nlohmann::json observation_schema(const space& observations);

/// Appends {"episode_id": .., "step_count": ..}.
void append_state(const std::optional<std::string>& episode_id, std::int64_t steps,
                  std::string& to);
/// The JSON Schema of that state.
nlohmann::json state_schema();

/// JSON on one line, whatever bytes its texts are.
std::string to_text(const nlohmann::json& value);

/// A random name for an episode, such as 4f2c1c1e-8a4b-4b8e-9d55-2f6a3c0b7e11 (version 4 of RFC
/// 9562).
std::string random_uuid();

}  // namespace troupe::openenv_server
