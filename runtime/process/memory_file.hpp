#pragma once

#include <string>

#include "runtime/base/descriptor.hpp"

namespace troupe::detail {

/// Makes a read-only file without a name that holds a text. It passes a process secrets that must
/// not stand in its command line, which every user can read. Throws std::system_error: "cannot
/// ACTION".
descriptor memory_file(const std::string& text, const std::string& action);

}  // namespace troupe::detail
