#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace troupe {

/// A file that only grows, by whole pieces: a piece that does not fit on the disk leaves nothing of
/// itself behind, so that a later one does not follow half a line or half a record.
class append_file {
 public:
  /// Creates the file, or empties it. Throws std::system_error naming the path.
  explicit append_file(std::filesystem::path path);
  /// Goes on in a file that is there, after its first `size` bytes; what follows them is dropped.
  /// Throws std::system_error naming the path, also where the file is shorter.
  static append_file reopen(std::filesystem::path path, std::int64_t size);
  ~append_file();
  append_file(append_file&& other) noexcept;
  append_file& operator=(append_file&& other) noexcept;

  /// Writes at once, unbuffered. Throws std::system_error naming the path; the file is then as
  /// before.
  void append(std::string_view piece);

  /// Renames the file over whatever is at `path`. Throws std::system_error, nothing is then
  /// changed.
  void rename(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  std::int64_t size() const { return size_; }

 private:
  append_file() = default;

  std::filesystem::path path_;
  int descriptor_ = -1;
  std::int64_t size_ = 0;  ///< Bytes of whole pieces.
};

/// Replaces the file at `path` as a whole: a reader, or a crash, sees the old text or the new one.
/// Throws std::system_error naming the path; the old file is then untouched.
void write_file_atomically(const std::filesystem::path& path, std::string_view text);

}  // namespace troupe
