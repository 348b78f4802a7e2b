#pragma once
// Annotations for ThreadSanitizer. CAF hands messages and the turns of an actor from thread to
// thread by atomics inside libcaf_core. Debian's libcaf_core is not instrumented, so every message
// would look like a data race without these annotations. In other builds the functions are empty.

#include "runtime/base/sanitizers.hpp"

#ifdef TROUPE_THREAD_SANITIZER
extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);
#endif

namespace troupe::detail {

/// Marks everything that this thread has done to `object` as visible to the thread that takes it
/// over.
inline void tsan_release([[maybe_unused]] const void* object) noexcept {
#ifdef TROUPE_THREAD_SANITIZER
  __tsan_release(const_cast<void*>(object));
#endif
}

/// Makes visible to this thread everything that was done to `object` before it was handed over.
inline void tsan_acquire([[maybe_unused]] const void* object) noexcept {
#ifdef TROUPE_THREAD_SANITIZER
  __tsan_acquire(const_cast<void*>(object));
#endif
}

}  // namespace troupe::detail
