#pragma once
// Macros for kernels that use the widest instructions of the processor. A function marked
// TROUPE_CPU_CLONES is compiled for several x86-64 levels, and the loader picks the best one for
// the processor. So one build runs everywhere. If the levels need different code, TROUPE_CPU_V3 and
// TROUPE_CPU_V4 mark a function for one of them. Sanitizers start after the loader has picked, so
// builds with them get the plain function.

#include "runtime/base/sanitizers.hpp"

#if defined(__x86_64__) && defined(__clang__) && __clang_major__ >= 18 && !defined(TROUPE_SANITIZED)
#define TROUPE_HAS_CPU_LEVELS 1
#define TROUPE_CPU_CLONES \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#define TROUPE_CPU_V3 __attribute__((target("arch=x86-64-v3")))
/// min_vector_width makes the compiler use whole 512-bit registers; by default it would use only
/// half of each.
#define TROUPE_CPU_V4 __attribute__((target("arch=x86-64-v4"), min_vector_width(512)))

namespace troupe::detail {

/// Returns the function for the highest level that the processor has: x86-64-v4, x86-64-v3 or any.
template <class F>
F* widest_kernel(F* v4, F* v3, F* any) {
  if (__builtin_cpu_supports("x86-64-v4")) return v4;
  if (__builtin_cpu_supports("x86-64-v3")) return v3;
  return any;
}

}  // namespace troupe::detail
#else
#define TROUPE_CPU_CLONES
#endif

/// Marks helpers of such a function, which must be compiled into each clone.
#define TROUPE_ALWAYS_INLINE __attribute__((always_inline)) inline
