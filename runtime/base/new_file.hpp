#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

namespace troupe::detail {

/// Makes a file with this mode and text and syncs it to the disk. Throws std::system_error that
/// names the file if it exists already or can't be written; a partly written file is removed.
void write_new_file(const std::filesystem::path& path, const std::string& text, mode_t mode);

}  // namespace troupe::detail
