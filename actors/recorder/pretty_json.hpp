#pragma once
// Readable JSON files.

#include <string>

namespace troupe {

/// Returns a JSON text indented, with its keys in their original order. Throws
/// std::invalid_argument naming `what` if `text` is not JSON.
std::string pretty_json(const std::string& text, const char* what);

}  // namespace troupe
