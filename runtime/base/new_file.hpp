#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

namespace troupe::detail {

/// Makes a file with this mode and text, which is on the disk afterwards. Throws std::system_error
/// naming it where there is one already or it can't be written; what was begun is removed.
void write_new_file(const std::filesystem::path& path, const std::string& text, mode_t mode);

}  // namespace troupe::detail
