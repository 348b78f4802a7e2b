#pragma once

#include <string>

#include "runtime/base/descriptor.hpp"

namespace troupe::detail {

/// A text as a file without a name, to be read from its beginning and never to be written. How a
/// process gets what shall not stand in its command line, which every user can read. Throws
/// std::system_error: "cannot ACTION".
descriptor memory_file(const std::string& text, const std::string& action);

}  // namespace troupe::detail
