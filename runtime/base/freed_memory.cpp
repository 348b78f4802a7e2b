#include "runtime/base/freed_memory.hpp"

#include <malloc.h>

namespace troupe::detail {

void keep_freed_memory() {
  static const bool kept = [] {
    mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the largest that the C library takes
    mallopt(M_TRIM_THRESHOLD, 128 << 20);
    return true;
  }();
  (void)kept;
}

}  // namespace troupe::detail
