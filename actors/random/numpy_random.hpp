#pragma once
// NumPy's default generator, draw for draw, so that a seed means here what it means in Gymnasium.

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "actors/checkpoint/state.hpp"

namespace troupe {

/// Spreads a seed over as many well-mixed words as are asked for; equals
/// `numpy.random.SeedSequence` without a spawn key.
class seed_sequence {
 public:
  /// The integer seed's 32-bit words, lowest first, without leading zero words.
  explicit seed_sequence(std::uint64_t seed);
  /// `entropy`: 32-bit words, lowest first; none counts as one zero word.
  explicit seed_sequence(std::span<const std::uint32_t> entropy);

  const std::array<std::uint32_t, 4>& pool() const noexcept { return pool_; }
  /// Fills `words`; asking again gives the same ones.
  void generate_state(std::span<std::uint32_t> words) const;

 private:
  std::array<std::uint32_t, 4> pool_{};
};

/// All there is to a generator: restoring it continues the stream at the next draw.
struct numpy_random_state {
  std::uint64_t state_high = 0, state_low = 0;          ///< The generator's 128 bits.
  std::uint64_t increment_high = 0, increment_low = 0;  ///< Its stream, odd.
  std::uint32_t buffered = 0;                           ///< Kept upper half of a 64-bit draw.
  bool has_buffered = false;
  bool operator==(const numpy_random_state&) const = default;
};

/// Equals `numpy.random.Generator(PCG64(seed))` as `gymnasium.utils.seeding.np_random` makes it.
/// PCG XSL-RR 128/64: O'Neill 2014, https://www.pcg-random.org/paper.html. Bounded integers:
/// Lemire 2019, https://arxiv.org/abs/1805.10941.
class numpy_random {
 public:
  explicit numpy_random(std::uint64_t seed);
  explicit numpy_random(const numpy_random_state& state) { restore(state); }
  /// Seeded by the operating system.
  static numpy_random from_entropy();

  std::uint64_t next64();
  /// Half of a 64-bit draw, lower half first; `next64` and `random` leave a kept half alone.
  std::uint32_t next32();

  /// Uniform on [0, 1) with 53 bits.
  double random();
  /// Uniform on [low, high), as low + (high - low) * random().
  double uniform(double low, double high);
  /// Uniform on low .. high - 1. One value in the range draws nothing. Throws std::invalid_argument
  /// if `low >= high`.
  std::int64_t integers(std::int64_t low, std::int64_t high);
  /// Zeros and ones, as `integers(0, 2, size=bits.size(), dtype=int8)`: four come from each 32-bit
  /// draw.
  void bits(std::span<std::uint8_t> bits);
  /// One of `items`, which must not be empty, as `choice(items)`.
  template <class T>
  const T& choice(std::span<const T> items) {
    return items[static_cast<std::size_t>(integers(0, static_cast<std::int64_t>(items.size())))];
  }

  numpy_random_state save() const;
  void restore(const numpy_random_state& state);

 private:
  __extension__ using uint128 = unsigned __int128;
  std::uint32_t bounded32(std::uint32_t largest);
  std::uint64_t bounded64(std::uint64_t largest);

  uint128 state_ = 0;
  uint128 increment_ = 0;
  std::uint32_t buffered_ = 0;
  bool has_buffered_ = false;
};

/// A generator as one value of a saved state.
void put_random(state_writer& to, std::string_view name, const numpy_random& random);
numpy_random get_random(const state_reader& from, std::string_view name);

}  // namespace troupe
