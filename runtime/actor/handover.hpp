#pragma once
// Tells ThreadSanitizer what it can't see. CAF hands messages, and the turns of an actor, from
// thread to thread by atomics inside libcaf_core; Debian's is not instrumented, so without a word
// from us every message would look like a data race. Elsewhere these are empty.

#include "runtime/base/sanitizers.hpp"

#ifdef TROUPE_THREAD_SANITIZER
extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);
#endif

namespace troupe::detail {

/// What this thread did to `object` until now is seen by who takes it over.
inline void hand_over([[maybe_unused]] const void* object) noexcept {
#ifdef TROUPE_THREAD_SANITIZER
  __tsan_release(const_cast<void*>(object));
#endif
}

/// This thread sees what was done to `object` until it was handed over.
inline void take_over([[maybe_unused]] const void* object) noexcept {
#ifdef TROUPE_THREAD_SANITIZER
  __tsan_acquire(const_cast<void*>(object));
#endif
}

}  // namespace troupe::detail
