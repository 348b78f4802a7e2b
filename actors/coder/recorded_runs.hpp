#pragma once
// Internal to coder/: the lines of a recording of runs.

#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "actors/sandbox/code_result.hpp"

namespace troupe {

/// Thrown for a program that a recording does not have.
class missing_run : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The line of a recording, with its end.
std::string line_of(const code_request& asked, const code_result& result);

/// The runs of a recording.
class recorded_runs {
 public:
  /// Throws jsonl_error that names the line.
  explicit recorded_runs(const std::filesystem::path& path);

  /// The next result of the request. Throws missing_run if there is none.
  code_result next(const code_request& asked);

 private:
  struct results {
    std::vector<code_result> all;
    std::size_t given = 0;
  };

  std::filesystem::path path_;
  std::map<std::string, results> of_;  // by request, in JSON
};

}  // namespace troupe
