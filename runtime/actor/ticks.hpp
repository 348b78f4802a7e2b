#pragma once

#include <algorithm>

#include "runtime/coroutine/strand.hpp"

namespace troupe::detail {

/// A time in ticks of its clock, never 0, so that 0 can say that there is none: virtual time begins
/// there.
inline duration::rep ticks_of(time_point time) {
  return std::max<duration::rep>(1, time.time_since_epoch().count());
}

}  // namespace troupe::detail
