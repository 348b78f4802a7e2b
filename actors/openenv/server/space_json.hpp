#pragma once
// Spaces and their elements as JSON, for clients in any language.

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "actors/environments/space.hpp"

namespace troupe::openenv_server {

/// The JSON Schema (draft 2020-12) of a space's elements: integers for discrete spaces, arrays
/// nested by the shape for boxes, arrays for the other flat kinds and tuples, strings, objects.
/// Bounds are said where they are finite.
nlohmann::json json_schema(const space& of);

/// Appends the element whose flattened form, as `space::flatten` gives it, is `flat` [flat_size()]:
/// a discrete part as its integer, not one-hot. A float is written as the shortest text that reads
/// back as that float32, always with a point or an exponent.
void append_json(const space& of, std::span<const float> flat, std::string& to);

/// The shortest text that reads back as that number; null for what is not finite.
void append_json(double number, std::string& to);

}  // namespace troupe::openenv_server
