#pragma once
// The role that runs what a language model has written in Python: in sandboxes, without one, or not
// at all, from a recording.

#include <memory>
#include <string>

#include "actors/recorder/recording_file.hpp"
#include "actors/sandbox/code_result.hpp"
#include "actors/sandbox/sandbox_options.hpp"
#include "runtime/coroutine/task.hpp"
#include "runtime/metrics/registry.hpp"

namespace troupe {

class recorded_runs;

struct code_runner_options {
  sandbox_options sandbox = {};
  /// Runs programs by a coder, which is no sandbox. A call then blocks its thread, so the role must
  /// be served with placement::thread.
  bool allow_unsandboxed = false;
  std::string replay = {};  ///< a recording, whose results are given in place of runs; "" for none
  /// Where each result is recorded; may be null.
  std::shared_ptr<recording_file> record = nullptr;
};

/// Runs programs as its options say. A recording has a line for each run, in JSON; its bytes are
/// written as the characters of these numbers:
///
///   {"program": "print(1)", "input": "", "result": {"output": "1\n"}}
///
/// Programs with the same text, input and files get their results in the order of the recording,
/// and the last one again after that.
class code_runner {
 public:
  /// Throws what the constructors of sandboxed_python and coder throw, and jsonl_error for a
  /// recording that can't be read.
  explicit code_runner(code_runner_options options, metrics_registry* metrics = nullptr);
  ~code_runner();

  /// Runs a program; see sandboxed_python::run and coder::run. Throws missing_run if a recording
  /// does not have it.
  task<code_result> run(code_request asked);

 private:
  struct ways;
  const std::unique_ptr<ways> ways_;
};

}  // namespace troupe
