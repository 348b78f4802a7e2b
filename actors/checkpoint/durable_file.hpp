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
/// It is no error if the file system can't do that, or if the folder may not be read.
void sync_folder(const std::filesystem::path& path);

/// Creates a folder. Its name is on disk once sync_folder has returned for the folder that it is
/// in.
void create_folder(const std::filesystem::path& path);

/// Creates the folder and those above it that don't exist, and returns once their names are on
/// disk. It waits for no name of a folder that exists.
void create_folders_durably(const std::filesystem::path& path);

/// Renames a file or a folder. `to` must not be a folder that has entries.
void rename_path(const std::filesystem::path& from, const std::filesystem::path& to);

/// Removes a file, or a folder with all that is in it. Returns false if there was none.
bool remove_tree(const std::filesystem::path& path);

}  // namespace troupe
