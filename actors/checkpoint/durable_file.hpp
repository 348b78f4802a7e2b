#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace troupe {

// All throw std::system_error naming what was tried and the path.

/// Makes the file, or empties it, and returns once its bytes are on the disk.
void write_durably(const std::filesystem::path& path, std::string_view bytes);

/// Writes the pieces one after the other beside the file, and takes its place once they are on the
/// disk: `path` is the old file or the new one, whole, also where the disk is full.
void replace_durably(const std::filesystem::path& path, std::span<const std::string_view> pieces);

/// Returns once the folder's list of names is on the disk: without it a power loss may undo a
/// rename.
void sync_folder(const std::filesystem::path& path);

std::string read_whole(const std::filesystem::path& path);

}  // namespace troupe
