#pragma once

#include <string>

#include "runtime/base/descriptor.hpp"

namespace troupe::detail {

/// Makes a read-only file without a name that holds a text. It passes a process secrets that must
/// not stand in its command line, which every user can read. Throws std::system_error: "cannot
/// ACTION".
descriptor memory_file(const std::string& text, const std::string& action);

/// Makes such a file without a text, for seal_memory_file(). Throws like memory_file().
descriptor empty_memory_file(const std::string& action);

/// Writes the text of an empty file, which nobody can change afterwards. The position of its
/// descriptors does not move. Throws like memory_file().
void seal_memory_file(const descriptor& file, const std::string& text, const std::string& action);

}  // namespace troupe::detail
