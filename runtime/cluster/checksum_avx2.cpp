// This file is compiled for AVX2. It must not instantiate anything from a header that others
// include, because the linker might keep the AVX2 version.

#include "runtime/cluster/checksum.hpp"

#ifdef __x86_64__
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace troupe::detail {

std::uint64_t checksum_avx2(const void* data, std::size_t size, std::uint64_t seed) noexcept {
  return XXH3_64bits_withSeed(data, size, seed);
}

}  // namespace troupe::detail
#endif
