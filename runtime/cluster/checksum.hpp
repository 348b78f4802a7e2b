#pragma once
// The checksum XXH3 (https://xxhash.com), with the widest registers that the processor has.

#include <cstddef>
#include <cstdint>

namespace troupe::detail {

std::uint64_t checksum(const void* data, std::size_t size, std::uint64_t seed) noexcept;

#ifdef __x86_64__
/// The same checksum for processors with AVX2.
std::uint64_t checksum_avx2(const void* data, std::size_t size, std::uint64_t seed) noexcept;
#endif

}  // namespace troupe::detail
