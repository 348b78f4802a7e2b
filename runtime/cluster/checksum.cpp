#include "runtime/cluster/checksum.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace troupe::detail {

std::uint64_t checksum(const void* data, std::size_t size, std::uint64_t seed) noexcept {
#ifdef __x86_64__
  static const bool has_avx2 = __builtin_cpu_supports("avx2");
  if (has_avx2) return checksum_avx2(data, size, seed);
#endif
  return XXH3_64bits_withSeed(data, size, seed);
}

}  // namespace troupe::detail
