#pragma once

#include <unistd.h>

#include "tests/test.hpp"

/// Whether a test can have programs run as users of their own, which is for root alone; where it
/// can't, the test's output says that it has checked nothing.
inline bool is_root() {
  if (::geteuid() == 0) return true;
  WARN("not checked: it takes root");
  return false;
}
