#pragma once

#include <cstdint>

namespace troupe::chaos {

/// What this process has.
struct process_figures {
  std::int64_t resident_bytes = 0, descriptors = 0;
  std::int64_t threads = 0;
};

process_figures read_process_figures();

}  // namespace troupe::chaos
