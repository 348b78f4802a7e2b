#pragma once
// Writing of the files of a run, safe against full disks and crashes.

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "runtime/base/regular_file.hpp"

namespace troupe {

/// A file to which whole pieces are appended. If a piece does not fit on the disk, no part of it
/// stays, so that a later piece does not follow half a line or half a record.
class append_file {
 public:
  /// Creates the file, or empties it. Throws std::system_error naming the path, also for what is
  /// there and is not of these kinds.
  explicit append_file(std::filesystem::path path,
                       detail::file_kinds kinds = detail::file_kinds::regular);
  /// Continues an existing file after its first `size` bytes; the rest is dropped. Throws as the
  /// constructor does, also if the file is shorter.
  static append_file reopen(std::filesystem::path path, std::int64_t size,
                            detail::file_kinds kinds = detail::file_kinds::regular);
  /// Continues a file of lines after its first `size` bytes. A file that a crash of the machine has
  /// left shorter is continued after its last whole line, and one that it has left out is created.
  static append_file reopen_lines(std::filesystem::path path, std::int64_t size,
                                  detail::file_kinds kinds = detail::file_kinds::regular);
  ~append_file();
  append_file(append_file&& other) noexcept;
  append_file& operator=(append_file&& other) noexcept;

  /// Writes a piece immediately, without a buffer. Throws std::system_error naming the path; the
  /// file is then unchanged.
  void append(std::string_view piece);

  /// Renames the file, and replaces a file at `path`. Throws std::system_error; nothing is then
  /// changed.
  void rename(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  std::int64_t size() const { return size_; }

 private:
  append_file() = default;

  std::filesystem::path path_;
  int descriptor_ = -1;
  std::int64_t size_ = 0;  ///< The number of bytes of whole pieces.
};

/// Replaces the file at `path` atomically: readers, also after a crash, see the old text or the new
/// one, and the new one once this has returned. Throws std::system_error naming the path; the old
/// file is then untouched.
void write_file_atomically(const std::filesystem::path& path, std::string_view text);

}  // namespace troupe
