#pragma once
// Reads numbers in clients' messages as pydantic does.

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "actors/openenv/server/input_errors.hpp"

namespace troupe::openenv_server {

// Integers are also read from whole floats, texts and booleans; floats are also read from texts. If
// the value is no finite number or an integer outside its bounds, the functions return nullopt and
// add an error at `at`.

std::optional<std::int64_t> read_integer(const nlohmann::json& value, std::int64_t first,
                                         std::int64_t last, const input_errors::place& at,
                                         input_errors& errors);
std::optional<float> read_float(const nlohmann::json& value, const input_errors::place& at,
                                input_errors& errors);

}  // namespace troupe::openenv_server
