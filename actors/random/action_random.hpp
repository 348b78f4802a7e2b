#pragma once
// The random numbers of policies and learners.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>
#include <string>
#include <vector>

#include "actors/checkpoint/state.hpp"

namespace troupe {

/// The random generator of one policy or learner: xoshiro256++ (Blackman and Vigna 2021,
/// https://doi.org/10.1145/3460772), seeded through SplitMix64. Its whole state is four words, so a
/// run can be resumed exactly. The same seed gives the same numbers on every platform; normal()
/// agrees up to the rounding of the mathematics library.
class action_random {
 public:
  using state_type = std::array<std::uint64_t, 4>;

  explicit action_random(std::uint64_t seed) {
    for (auto& word : state_) {
      seed += 0x9e3779b97f4a7c15u;
      std::uint64_t z = seed;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
      word = z ^ (z >> 31);
    }
  }

  std::uint64_t next() {
    auto& [a, b, c, d] = state_;
    const std::uint64_t result = std::rotl(a + d, 23) + a;
    const std::uint64_t shifted = b << 17;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= shifted;
    d = std::rotl(d, 45);
    return result;
  }

  /// Draws uniformly from [0, 1) with 53 random bits.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

  /// Draws a standard normal number (Box and Muller). It takes two numbers from the stream and
  /// keeps none, so state() is complete.
  double normal() {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
    return radius * std::cos(2.0 * std::numbers::pi * uniform());
  }

  /// Fills `normals` with standard normal numbers, two from each pair of uniform numbers.
  void fill_normal(std::span<float> normals) {
    for (std::size_t i = 0; i < normals.size(); i += 2) {
      const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
      const double angle = 2.0 * std::numbers::pi * uniform();
      normals[i] = static_cast<float>(radius * std::cos(angle));
      if (i + 1 < normals.size()) normals[i + 1] = static_cast<float>(radius * std::sin(angle));
    }
  }

  /// Draws uniformly from [0, bound) without the bias of a remainder; bound > 0.
  std::uint64_t below(std::uint64_t bound) {
    const std::uint64_t excess = -bound % bound;  // 2^64 mod bound
    std::uint64_t number = next();
    while (number < excess) number = next();
    return number % bound;
  }

  const state_type& state() const { return state_; }
  void set_state(const state_type& state) { state_ = state; }

 private:
  state_type state_{};
};

/// Saves a generator as the entry `name` of a state.
inline void put_random(state_writer& to, std::string_view name, const action_random& random) {
  to.put(name, std::vector<std::uint64_t>(random.state().begin(), random.state().end()));
}
/// Loads the generator that put_random saved. Throws state_error.
inline action_random get_action_random(const state_reader& from, std::string_view name) {
  const auto words = from.get<std::vector<std::uint64_t>>(name);
  action_random::state_type state;
  if (words.size() != state.size()) {
    throw state_error("saved state: " + std::string(name) + ": expected a generator's 4 words");
  }
  std::copy(words.begin(), words.end(), state.begin());
  action_random random(0);
  random.set_state(state);
  return random;
}

}  // namespace troupe
