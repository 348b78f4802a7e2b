#pragma once

#include <cstdint>

namespace troupe::testing {

/// Returns how often this thread has called operator new. Other threads allocate at times of their
/// own, so they are left out.
std::int64_t allocations();

}  // namespace troupe::testing
