#pragma once
// Files that survive a power loss once they are written.

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace troupe {

// All functions throw std::system_error naming the action and the path. A file is never written
// through a link.

/// Creates the file, or replaces its content, and returns once the bytes are on disk.
void write_durably(const std::filesystem::path& path, std::string_view bytes);

/// Writes the pieces one after the other into a new file beside `path`, and renames it once they
/// are on disk. So `path` is always the complete old file or the complete new one, even if the disk
/// is full.
void replace_durably(const std::filesystem::path& path, std::span<const std::string_view> pieces);

/// Returns once the folder's list of names is on disk. Without it, a power loss may undo a rename.
void sync_folder(const std::filesystem::path& path);

}  // namespace troupe
