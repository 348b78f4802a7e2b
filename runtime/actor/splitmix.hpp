#pragma once
// The generator splitmix64, from which the runtime's random streams are made. Internal to runtime/.

#include <cstdint>

namespace troupe::detail {

/// Advances `state` and returns the next number of splitmix64 (Steele et al. 2014).
inline std::uint64_t next_of(std::uint64_t& state) noexcept {
  auto z = (state += 0x9e3779b97f4a7c15ULL);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

}  // namespace troupe::detail
