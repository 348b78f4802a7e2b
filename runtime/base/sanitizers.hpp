#pragma once
// Macros for builds with sanitizers: TROUPE_THREAD_SANITIZER is defined with the thread sanitizer,
// and TROUPE_SANITIZED with the thread sanitizer or the address sanitizer.

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TROUPE_THREAD_SANITIZER 1
#endif
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TROUPE_SANITIZED 1
#endif
#endif
