#pragma once
// Turns off denormal floats, for learners' optimisers.

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace troupe::detail {

/// While an object of this class lives, results below 1.2e-38 on this thread become 0, and so do
/// such operands. The optimiser's moments of units without a gradient decay into that range and
/// would stay there, where each operation costs a hundred cycles.
class flush_denormals {
 public:
#if defined(__SSE__)
  flush_denormals() : before_(_mm_getcsr()) { _mm_setcsr(before_ | 0x8040u); }  // FTZ, DAZ
  ~flush_denormals() { _mm_setcsr(before_); }
#else
  flush_denormals() {}
#endif
  flush_denormals(const flush_denormals&) = delete;
  flush_denormals& operator=(const flush_denormals&) = delete;

 private:
  [[maybe_unused]] unsigned before_ = 0;
};

}  // namespace troupe::detail
