#pragma once
#include <cstdlib>
#include <string>

namespace troupe {

/// The device that tests of networks on a device use: that of the variable TROUPE_TEST_DEVICE, else
/// the CPU.
inline std::string test_device() {
  const char* asked = std::getenv("TROUPE_TEST_DEVICE");
  return asked ? asked : "cpu";
}

}  // namespace troupe
