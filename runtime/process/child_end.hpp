#pragma once

#include <string>

namespace troupe::detail {

/// The way in which a process ended.
struct child_end {
  bool killed = false;  ///< True if a signal killed it, false if it exited.
  int code = 0;         ///< The signal, or the exit code.
  std::string why;      ///< A text for people: "was killed by signal 11 (Segmentation fault)".
};

}  // namespace troupe::detail
