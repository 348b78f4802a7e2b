#pragma once
// Readable names of C++ types, for messages.

#include <string>

namespace troupe::detail {

/// Returns the readable form of std::type_info::name(), such as "shop::sold_out".
std::string demangled(const char* name);

}  // namespace troupe::detail
