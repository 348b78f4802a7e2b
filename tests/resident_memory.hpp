#pragma once
// The memory of this process that is really there, in bytes.

#include <malloc.h>

#include <cstddef>
#include <fstream>
#include <sstream>
#include <string>

namespace troupe::testing {

/// A field of /proc/self/status that is in KiB, such as VmRSS, or VmHWM for the most that it was.
inline std::size_t status_bytes(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with(field + ":")) continue;
    std::size_t kib = 0;
    std::istringstream(line.substr(field.size() + 1)) >> kib;
    return kib << 10;
  }
  return 0;
}

inline std::size_t resident_bytes() { return status_bytes("VmRSS"); }

/// The bytes that this process has allocated and not freed. It is 0 under the address sanitizer,
/// which keeps freed memory for a while.
inline std::size_t allocated_bytes() {
  const auto now = ::mallinfo2();
  return now.uordblks + now.hblkhd;
}

/// How far the memory of this process rises above what it was when this was made.
class memory_rise {
 public:
  memory_rise() : before_(resident_bytes()) {
    std::ofstream("/proc/self/clear_refs") << "5";  // VmHWM begins again.
  }
  std::size_t bytes() const {
    const auto most = status_bytes("VmHWM");
    return most > before_ ? most - before_ : 0;
  }

 private:
  const std::size_t before_;
};

}  // namespace troupe::testing
