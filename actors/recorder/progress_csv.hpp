#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "actors/recorder/file_io.hpp"

namespace troupe {

/// `progress.csv` in the form of Stable-Baselines3's CSVOutputFormat: a row a dump, a column a key.
/// Keys that a later row brings become new columns on the right, sorted among themselves; the file
/// is then rewritten, and the rows before are empty there. Fields are quoted after RFC 4180; lines
/// end with "\n". Not thread-safe.
class progress_csv {
 public:
  /// Creates an empty file. Throws std::system_error.
  explicit progress_csv(std::filesystem::path path);
  /// Goes on in the file at `path`, after its first `rows` rows or all where they are fewer; what
  /// follows is dropped. Throws std::system_error.
  static progress_csv resume(const std::filesystem::path& path, std::int64_t rows);

  /// Adds a row. A number is written so that it reads back the same; NaN and infinities are `nan`,
  /// `inf` and `-inf`, as Python writes them. Throws std::system_error, the file is then as before.
  void write(const std::map<std::string, double>& values);

  std::int64_t rows() const { return rows_; }

 private:
  explicit progress_csv(append_file file) : file_(std::move(file)) {}
  void rewrite(const std::vector<std::string>& keys);

  append_file file_;
  std::vector<std::string> keys_;
  std::size_t header_bytes_ = 0;
  std::int64_t rows_ = 0;
};

}  // namespace troupe
