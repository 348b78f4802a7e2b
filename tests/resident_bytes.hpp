#pragma once
// How much memory a test's process has.

#include <unistd.h>

#include <cstddef>
#include <fstream>

namespace troupe::testing {

/// The memory that this process has touched and has not given back, in bytes.
inline std::size_t resident_bytes() {
  std::size_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace troupe::testing
