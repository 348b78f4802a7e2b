#pragma once
// Times as integers, for atomics. Internal to runtime/.

#include <algorithm>

#include "runtime/coroutine/strand.hpp"

namespace troupe::detail {

/// Returns a time in ticks of its clock, at least 1. Virtual time begins at 0 ticks, but callers
/// use 0 for "no time".
inline duration::rep ticks_of(time_point time) {
  return std::max<duration::rep>(1, time.time_since_epoch().count());
}

}  // namespace troupe::detail
