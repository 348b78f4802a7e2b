#pragma once

#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>

#include "runtime/trace/trace.hpp"

namespace troupe {

class trace_file_error final : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A trace and the file it goes to: what `--trace FILE` asks for. Made before the systems that
/// write to the trace, so that it is destroyed after them.
class trace_file {
 public:
  /// Makes the file, empty until the end; an empty path makes neither. Throws trace_file_error if
  /// it can't be written.
  explicit trace_file(std::string path);
  trace_file(const trace_file&) = delete;
  /// Writes the trace. What goes wrong is logged.
  ~trace_file();

  /// For system_options::trace; null where the path is empty.
  const std::shared_ptr<class trace>& trace() const noexcept { return trace_; }

 private:
  const std::string path_;
  std::ofstream file_;
  std::shared_ptr<class trace> trace_;
};

}  // namespace troupe
