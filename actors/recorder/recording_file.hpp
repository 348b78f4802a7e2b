#pragma once
// The file of a recording: what something outside of a run has answered, for later runs.

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string_view>

#include "actors/recorder/file_io.hpp"

namespace troupe {

/// A file that lines are appended to. Any thread may use it.
class recording_file {
 public:
  /// Creates the file. Throws std::system_error that names the path, and std::invalid_argument for
  /// a file that is there and not empty, since a recording is of one run.
  explicit recording_file(const std::filesystem::path& path);
  /// Continues a file after its first `size` bytes and removes the bytes that follow. Lines that a
  /// crash of the machine has taken are missing.
  recording_file(const std::filesystem::path& path, std::int64_t size);

  /// Writes a line. Throws std::system_error; the file is then unchanged.
  void append(std::string_view line);
  /// Returns another number, such as that of an episode, which no line of the file has.
  std::int64_t next_id();
  std::int64_t size() const;

 private:
  mutable std::mutex mutex_;
  append_file file_;
  std::int64_t last_id_;
};

}  // namespace troupe
