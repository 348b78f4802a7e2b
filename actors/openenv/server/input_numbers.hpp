#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "actors/openenv/server/input_errors.hpp"

namespace troupe::openenv_server {

// Numbers of a message, as pydantic reads them: integers also from whole floats, from texts and
// from booleans, floats also from texts. Nothing, and an error at `at`, for what is none or lies
// outside of its bounds.

std::optional<std::int64_t> read_integer(const nlohmann::json& value, std::int64_t first,
                                         std::int64_t last, const input_errors::place& at,
                                         input_errors& errors);
std::optional<float> read_float(const nlohmann::json& value, float low, float high,
                                const input_errors::place& at, input_errors& errors);

}  // namespace troupe::openenv_server
