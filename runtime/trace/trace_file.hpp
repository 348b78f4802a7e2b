#pragma once
// The trace file of a program: the option `--trace FILE` makes one.

#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>

#include "runtime/trace/trace.hpp"

namespace troupe {

/// Thrown if the file of a trace can't be written.
class trace_file_error final : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A trace and the file that it is written to. It must be made before the systems that write to the
/// trace, so that it is destroyed after them.
class trace_file {
 public:
  /// Creates the file, which stays empty until the end. An empty path means no file and no trace.
  /// Throws trace_file_error if the file can't be written, or is there and is not a regular file: a
  /// FIFO would wait for its reader.
  explicit trace_file(std::string path);
  trace_file(const trace_file&) = delete;
  /// Writes the trace to the file. Errors are logged.
  ~trace_file();

  /// The trace for system_options::trace; null if the path is empty.
  const std::shared_ptr<class trace>& trace() const noexcept { return trace_; }

 private:
  const std::string path_;
  std::ofstream file_;
  std::shared_ptr<class trace> trace_;
};

}  // namespace troupe
