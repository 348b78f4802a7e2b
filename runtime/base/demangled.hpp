#pragma once

#include <string>

namespace troupe::detail {

/// "shop::sold_out" out of std::type_info::name().
std::string demangled(const char* name);

}  // namespace troupe::detail
