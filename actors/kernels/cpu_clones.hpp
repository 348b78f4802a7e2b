#pragma once
// A function marked TROUPE_CPU_CLONES is compiled for several x86-64 levels; the loader picks the
// best one for the processor. One build then runs everywhere and is fast where it can be. Where the
// levels need different code, TROUPE_CPU_V3 and TROUPE_CPU_V4 mark a function for one of them.
// Sanitizers start after the loader has picked, so they get the plain function.

#include "runtime/base/sanitizers.hpp"

#if defined(__x86_64__) && defined(__clang__) && __clang_major__ >= 18 && !defined(TROUPE_SANITIZED)
#define TROUPE_HAS_CPU_LEVELS 1
#define TROUPE_CPU_CLONES \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#define TROUPE_CPU_V3 __attribute__((target("arch=x86-64-v3")))
/// 512-bit registers are used, too: by itself the compiler would take half of each.
#define TROUPE_CPU_V4 __attribute__((target("arch=x86-64-v4"), min_vector_width(512)))

namespace troupe::detail {

/// Which of these three the processor runs fastest: one of x86-64-v4, one of v3, one for all.
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

/// For the helpers of such a function: they must become part of each clone.
#define TROUPE_ALWAYS_INLINE __attribute__((always_inline)) inline
