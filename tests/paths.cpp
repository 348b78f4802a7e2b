#include "tests/paths.hpp"

namespace troupe::testing {

// This file alone is compiled with absolute paths, so all others compile to the same in every
// clone.
std::string source_path(const std::string& name) { return TROUPE_SOURCES "/" + name; }

std::string build_folder() { return TROUPE_BUILD; }

std::string build_path(const std::string& name) { return build_folder() + "/" + name; }

}  // namespace troupe::testing
