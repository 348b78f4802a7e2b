#pragma once
// The log of sampled answers in a run directory.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "actors/recorder/file_io.hpp"
#include "algorithms/language_models/grpo/answer_group.hpp"

namespace troupe {

/// Writes the best and the worst answer of each group to `samples.jsonl`, one line of JSON for each
/// group, so that people can see how the model answers. `troupe samples RUN_DIR` prints them.
class sample_log {
 public:
  /// Returns a note on an answer, or "".
  using note_function = std::function<std::string(const answer_group&, const sampled_answer&)>;

  /// Begins a new file, which is not created before the first `add`.
  explicit sample_log(std::filesystem::path path) : path_(std::move(path)) {}
  /// Continues a file after its first `size` bytes and removes the bytes that follow. Lines that a
  /// crash of the machine has taken are missing.
  sample_log(std::filesystem::path path, std::int64_t size);

  /// Writes one line for each group that has answers. `advantages` has one for each answer of each
  /// group, or is empty. `tasks` has the names of several tasks, or is empty. `with_tokens` adds
  /// the tokens of all answers. `note`, which may be null, says what the rewards did not understand
  /// in an answer. Throws std::system_error if the lines can't be written; the file is then
  /// unchanged.
  void add(std::int64_t update, std::int64_t version, const std::vector<answer_group>& groups,
           const std::vector<std::vector<double>>& advantages,
           const std::vector<std::string>& tasks = {}, bool with_tokens = false,
           const note_function& note = nullptr);

  std::int64_t size() const { return file_ ? file_->size() : 0; }

 private:
  std::filesystem::path path_;
  std::optional<append_file> file_;
};

}  // namespace troupe
