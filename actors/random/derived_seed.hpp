#pragma once
// Derives independent seeds from the one seed of a run, for everything in it that draws random
// numbers.

#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace troupe {

namespace detail {

/// SplitMix64's finaliser (Steele, Lea and Flood 2014, https://doi.org/10.1145/2714064.2660195): a
/// bijection in which each input bit flips about half of the output bits.
constexpr std::uint64_t mix_bits(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

constexpr std::uint64_t absorb(std::uint64_t hash, std::uint64_t word) {
  return mix_bits((hash ^ word) + 0x9e3779b97f4a7c15u);
}

}  // namespace detail

/// Returns the seed for one use of `seed`: a hash of the seed, the use's name and its indices (such
/// as the replica, the restart and the episode). Uses with different names or indices get unrelated
/// seeds, and so does the same use of two neighbouring seeds. A sum such as `seed + index` would
/// give item 1 of seed 1 and item 0 of seed 2 the same seed.
constexpr std::uint64_t derived_seed(std::uint64_t seed, std::string_view use,
                                     std::initializer_list<std::uint64_t> indices = {}) {
  auto hash = detail::absorb(0, seed);
  for (const char c : use) hash = detail::absorb(hash, static_cast<unsigned char>(c));
  hash = detail::absorb(hash, use.size());
  for (const auto index : indices) hash = detail::absorb(hash, index);
  return hash;
}

/// Returns a derived seed for environments, below 2^31. Gymnasium seeds environment i of a vector
/// with seed + i, and environments of other libraries refuse seeds of more than 32 bits.
constexpr std::uint64_t environment_seed(std::uint64_t seed, std::string_view use,
                                         std::initializer_list<std::uint64_t> indices = {}) {
  return derived_seed(seed, use, indices) >> 33;
}

}  // namespace troupe
