#pragma once
// NumPy's default random generator, draw for draw, so that a seed gives the same episode as in
// Gymnasium.

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "actors/checkpoint/state.hpp"

namespace troupe {

/// Spreads a seed over any number of well-mixed words. It equals `numpy.random.SeedSequence`
/// without a spawn key.
class seed_sequence {
 public:
  /// Splits the seed into 32-bit words, lowest first, without leading zero words.
  explicit seed_sequence(std::uint64_t seed);
  /// Takes 32-bit words, lowest first. An empty span counts as one zero word.
  explicit seed_sequence(std::span<const std::uint32_t> entropy);

  const std::array<std::uint32_t, 4>& pool() const noexcept { return pool_; }
  /// Fills `words`. A repeated call gives the same words.
  void generate_state(std::span<std::uint32_t> words) const;

 private:
  std::array<std::uint32_t, 4> pool_{};
};

/// The complete state of a generator. Restoring it continues the stream at the next draw.
struct numpy_random_state {
  std::uint64_t state_high = 0, state_low = 0;  ///< The 128 bits of the generator's state.
  /// The 128 bits of the stream's increment, odd.
  std::uint64_t increment_high = 0, increment_low = 0;
  std::uint32_t buffered = 0;  ///< The kept upper half of a 64-bit draw.
  bool has_buffered = false;
  bool operator==(const numpy_random_state&) const = default;
};

/// A generator that equals `numpy.random.Generator(PCG64(seed))` as
/// `gymnasium.utils.seeding.np_random` makes it. The generator is PCG XSL-RR 128/64: O'Neill 2014,
/// https://www.pcg-random.org/paper.html. Bounded integers are drawn as in Lemire 2019,
/// https://arxiv.org/abs/1805.10941.
class numpy_random {
 public:
  explicit numpy_random(std::uint64_t seed);
  explicit numpy_random(const numpy_random_state& state) { restore(state); }
  /// Returns a generator that is seeded by the operating system.
  static numpy_random from_entropy();

  std::uint64_t next64();
  /// Returns half of a 64-bit draw, the lower half first. The other half is kept for the next call;
  /// `next64` and `random` do not touch it.
  std::uint32_t next32();

  /// Draws uniformly from [0, 1) with 53 bits.
  double random();
  /// Draws uniformly from [low, high) as low + (high - low) * random().
  double uniform(double low, double high);
  /// Draws uniformly from low .. high - 1. A range of one value takes nothing from the stream.
  /// Throws std::invalid_argument if `low >= high`.
  std::int64_t integers(std::int64_t low, std::int64_t high);
  /// Draws zeros and ones as `integers(0, 2, size=bits.size(), dtype=int8)` does: each 32-bit draw
  /// gives four.
  void bits(std::span<std::uint8_t> bits);
  /// Draws one of `items`, which must not be empty, as `choice(items)` does.
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

/// Saves a generator as the entry `name` of a state, and loads it again.
void put_random(state_writer& to, std::string_view name, const numpy_random& random);
numpy_random get_random(const state_reader& from, std::string_view name);

}  // namespace troupe
