#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace troupe {

// All throw std::system_error naming what was tried and the path.

/// Makes the file, or empties it, and returns once its bytes are on the disk.
void write_durably(const std::filesystem::path& path, std::string_view bytes);

/// Returns once the folder's list of names is on the disk: without it a power loss may undo a
/// rename.
void sync_folder(const std::filesystem::path& path);

std::string read_whole(const std::filesystem::path& path);

}  // namespace troupe
