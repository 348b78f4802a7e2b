#pragma once
// Which sanitizer this is built with: TROUPE_THREAD_SANITIZER, and TROUPE_SANITIZED for that or the
// address sanitizer.

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TROUPE_THREAD_SANITIZER 1
#endif
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TROUPE_SANITIZED 1
#endif
#endif
