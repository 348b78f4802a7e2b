#pragma once
// How much memory a test's process has.

#include <malloc.h>
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

/// The bytes that this process has allocated and not freed. It is 0 under the address sanitizer,
/// which keeps freed memory for a while.
inline std::size_t allocated_bytes() {
  const auto now = ::mallinfo2();
  return now.uordblks + now.hblkhd;
}

}  // namespace troupe::testing
