#pragma once
// Vectors of sixteen floats for the hand-written kernels.

#include <cstddef>

#include "actors/kernels/cpu_clones.hpp"

namespace troupe::detail {

/// Sixteen floats that the compiler maps to the registers of each processor. They may lie at any
/// address.
typedef float lanes __attribute__((vector_size(64), aligned(4)));
constexpr std::ptrdiff_t lane_count = 16;

TROUPE_ALWAYS_INLINE lanes& lanes_at(float* p) { return *reinterpret_cast<lanes*>(p); }
TROUPE_ALWAYS_INLINE const lanes& lanes_at(const float* p) {
  return *reinterpret_cast<const lanes*>(p);
}

/// Returns the sum of all sixteen floats, always added in the same order.
TROUPE_ALWAYS_INLINE float sum_of(const lanes& x) {
  typedef float half __attribute__((vector_size(32)));
  typedef float quarter __attribute__((vector_size(16)));
  const half h = __builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7) +
                 __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15);
  const quarter q =
      __builtin_shufflevector(h, h, 0, 1, 2, 3) + __builtin_shufflevector(h, h, 4, 5, 6, 7);
  return (q[0] + q[2]) + (q[1] + q[3]);
}

}  // namespace troupe::detail
