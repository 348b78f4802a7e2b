#pragma once
#include <string>

namespace troupe::testing {

/// The absolute path of a file of the sources, such as source_path("tests/fixtures").
std::string source_path(const std::string& name);

/// The folder that CMake builds in, an absolute path.
std::string build_folder();

/// The absolute path of what the build has made, such as build_path("deploy/troupe/troupe").
std::string build_path(const std::string& name);

}  // namespace troupe::testing
