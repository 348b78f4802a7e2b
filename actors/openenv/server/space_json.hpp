#pragma once
// Converts spaces and their elements to JSON, for clients in any language.

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "actors/environments/space.hpp"

namespace troupe::openenv_server {

/// Returns the JSON Schema (draft 2020-12) of a space's elements: integers for discrete spaces,
/// nested arrays for boxes, arrays for the other flat kinds and for tuples, strings, objects. Only
/// finite bounds are included.
nlohmann::json json_schema(const space& of);

/// Appends the element whose flattened form, as `space::flatten` returns it, is `flat`
/// [flat_size()]. A discrete part is its integer, not one-hot. A float32 is written as the double
/// of the same value, as Python's servers write it: 0.1f is 0.10000000149011612. There is always a
/// point or an exponent.
void append_json(const space& of, std::span<const float> flat, std::string& to);

/// Appends the shortest text that reads back as the same number, or null for a number that is not
/// finite.
void append_json(double number, std::string& to);

}  // namespace troupe::openenv_server
