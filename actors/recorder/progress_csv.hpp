#pragma once
// The file progress.csv of a run.

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "actors/recorder/file_io.hpp"

namespace troupe {

inline constexpr std::size_t column_bytes_max = 200;
/// Throws std::invalid_argument if a value can't be recorded under `name`: if it is empty, longer
/// than column_bytes_max, not UTF-8, or has a comma, a quote or a control character.
void require_column_name(const std::string& name);

/// `progress.csv` in the form of Stable-Baselines3's CSVOutputFormat: one row per call of `write`,
/// one column per key. New keys of a later row become new columns on the right, sorted among
/// themselves. The file is then rewritten, and earlier rows are empty in the new columns. Fields
/// are quoted after RFC 4180; lines end with "\n". It is not thread-safe.
class progress_csv {
 public:
  /// Creates an empty file. Throws std::system_error.
  explicit progress_csv(std::filesystem::path path);
  /// Continues the file at `path` after its first `rows` rows, or after all if there are fewer; the
  /// rest is dropped. Throws std::system_error.
  static progress_csv resume(const std::filesystem::path& path, std::int64_t rows);

  /// Adds a row. Numbers are written so that they read back the same; NaN and infinities become
  /// `nan`, `inf` and `-inf`, as in Python. Throws std::system_error; the file is then unchanged.
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
