#pragma once
// Values of templates from JSON.

#include <string_view>

#include "actors/llm/jinja/value.hpp"

namespace troupe::llm::jinja {

/// The value of a JSON text, with the keys of objects in their order there. Every text in it, a key
/// too, has the mark. Throws std::invalid_argument, which names the byte.
value value_of_json(std::string_view json, char mark);

}  // namespace troupe::llm::jinja
