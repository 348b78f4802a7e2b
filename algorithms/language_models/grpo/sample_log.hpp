#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "actors/recorder/file_io.hpp"
#include "algorithms/language_models/grpo/answer_group.hpp"

namespace troupe {

/// What people look at to see how a model answers: the best and the worst answer of each group, a
/// line of JSON a group in `samples.jsonl`; `troupe samples RUN_DIR` prints them.
class sample_log {
 public:
  /// Nothing is written before the first `add`.
  explicit sample_log(std::filesystem::path path) : path_(std::move(path)) {}
  /// Goes on after the first `size` bytes; what follows them is dropped.
  sample_log(std::filesystem::path path, std::int64_t size);

  /// One line a group, at once; a group without answers has none. `advantages`: of each group's
  /// answers, or none. Throws std::system_error, the file is then as before.
  void add(std::int64_t update, std::int64_t version, const std::vector<answer_group>& groups,
           const std::vector<std::vector<double>>& advantages);

  std::int64_t size() const { return file_ ? file_->size() : 0; }

 private:
  std::filesystem::path path_;
  std::optional<append_file> file_;
};

}  // namespace troupe
