#pragma once
// Finds files that are installed beside the program.

#include <filesystem>

namespace troupe::detail {

/// Returns the path of `relative`, such as "share/troupe/python", below a folder that the running
/// program is in, at most four levels above it, or below the prefix of the Troupe that
/// find_package(troupe) found for the program, or of the `troupe` command on PATH. Returns an empty
/// path if there is none. $TROUPE_PREFIX replaces these folders.
std::filesystem::path find_installed(const std::filesystem::path& relative);

/// Returns the path of an executable file: `name` itself if it has a slash, else the first of that
/// name on PATH. Returns an empty path if there is none.
std::filesystem::path find_program(const std::string& name);

}  // namespace troupe::detail
