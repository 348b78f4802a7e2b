#pragma once

#include <string>

namespace troupe {

/// Indented, with the keys in the order they came in. Throws std::invalid_argument naming `what` it
/// was to be.
std::string pretty_json(const std::string& text, const char* what);

}  // namespace troupe
