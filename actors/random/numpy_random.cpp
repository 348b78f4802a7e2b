#include "actors/random/numpy_random.hpp"

#include <bit>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>

namespace troupe {
namespace {

// The hash of SeedSequence. Its multiplier changes with every word that is hashed.
struct word_hash {
  std::uint32_t constant;
  std::uint32_t multiplier;

  std::uint32_t operator()(std::uint32_t word) {
    word ^= constant;
    constant *= multiplier;
    word *= constant;
    return word ^ (word >> 16);
  }
};

std::uint32_t mix(std::uint32_t x, std::uint32_t y) {
  const std::uint32_t mixed = 0xca01f9ddU * x - 0x4973f715U * y;
  return mixed ^ (mixed >> 16);
}

}  // namespace

seed_sequence::seed_sequence(std::uint64_t seed) {
  const std::array words{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)};
  *this = seed_sequence(std::span<const std::uint32_t>(words.data(), words[1] == 0 ? 1 : 2));
}

seed_sequence::seed_sequence(std::span<const std::uint32_t> entropy) {
  word_hash hash{0x43b0d7e5U, 0x931e8875U};
  for (std::size_t i = 0; i < pool_.size(); ++i)
    pool_[i] = hash(i < entropy.size() ? entropy[i] : 0U);
  for (std::size_t from = 0; from < pool_.size(); ++from)
    for (std::size_t to = 0; to < pool_.size(); ++to)
      if (from != to) pool_[to] = mix(pool_[to], hash(pool_[from]));
  for (std::size_t i = pool_.size(); i < entropy.size(); ++i)
    for (auto& slot : pool_) slot = mix(slot, hash(entropy[i]));
}

void seed_sequence::generate_state(std::span<std::uint32_t> words) const {
  word_hash hash{0x8b51f9ddU, 0x58f38dedU};
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = hash(pool_[i % pool_.size()]);
}

numpy_random::numpy_random(std::uint64_t seed) {
  std::array<std::uint32_t, 8> words;
  seed_sequence(seed).generate_state(words);
  auto word64 = [&words](std::size_t i) {
    return static_cast<uint128>(std::uint64_t{words[2 * i + 1]} << 32 | words[2 * i]);
  };
  const uint128 initial = word64(0) << 64 | word64(1);
  increment_ = (word64(2) << 64 | word64(3)) << 1 | 1U;
  next64();
  state_ += initial;
  next64();
}

numpy_random numpy_random::from_entropy() {
  std::random_device device;
  return numpy_random(std::uint64_t{device()} << 32 | device());
}

std::uint64_t numpy_random::next64() {
  constexpr uint128 multiplier =
      static_cast<uint128>(0x2360ED051FC65DA4ULL) << 64 | 0x4385DF649FCCF645ULL;
  state_ = state_ * multiplier + increment_;
  const auto high = static_cast<std::uint64_t>(state_ >> 64);
  return std::rotr(high ^ static_cast<std::uint64_t>(state_), static_cast<int>(high >> 58));
}

std::uint32_t numpy_random::next32() {
  if (has_buffered_) {
    has_buffered_ = false;
    return buffered_;
  }
  const std::uint64_t drawn = next64();
  has_buffered_ = true;
  buffered_ = static_cast<std::uint32_t>(drawn >> 32);
  return static_cast<std::uint32_t>(drawn);
}

double numpy_random::random() { return static_cast<double>(next64() >> 11) * 0x1p-53; }

double numpy_random::uniform(double low, double high) { return low + (high - low) * random(); }

std::int64_t numpy_random::integers(std::int64_t low, std::int64_t high) {
  if (low >= high)
    throw std::invalid_argument("numpy_random::integers: expected low < high, got " +
                                std::to_string(low) + " and " + std::to_string(high));
  const std::uint64_t largest =
      static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) - 1;
  std::uint64_t offset = 0;
  if (largest > std::numeric_limits<std::uint32_t>::max())
    offset = bounded64(largest);
  else if (largest > 0)
    offset = bounded32(static_cast<std::uint32_t>(largest));
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + offset);
}

// Lemire's multiply and shift: the result is the high half of draw * count. A few low halves are
// rejected, because they would make some values more likely. `largest` is count - 1.
std::uint32_t numpy_random::bounded32(std::uint32_t largest) {
  if (largest == std::numeric_limits<std::uint32_t>::max()) return next32();
  const std::uint32_t count = largest + 1;
  std::uint64_t product = std::uint64_t{next32()} * count;
  if (static_cast<std::uint32_t>(product) < count) {
    const std::uint32_t threshold = (0U - count) % count;
    while (static_cast<std::uint32_t>(product) < threshold)
      product = std::uint64_t{next32()} * count;
  }
  return static_cast<std::uint32_t>(product >> 32);
}

std::uint64_t numpy_random::bounded64(std::uint64_t largest) {
  if (largest == std::numeric_limits<std::uint64_t>::max()) return next64();
  const std::uint64_t count = largest + 1;
  uint128 product = static_cast<uint128>(next64()) * count;
  if (static_cast<std::uint64_t>(product) < count) {
    const std::uint64_t threshold = (std::uint64_t{0} - count) % count;
    while (static_cast<std::uint64_t>(product) < threshold)
      product = static_cast<uint128>(next64()) * count;
  }
  return static_cast<std::uint64_t>(product >> 64);
}

void numpy_random::bits(std::span<std::uint8_t> bits) {
  std::uint32_t drawn = 0;
  for (std::size_t i = 0; i < bits.size(); ++i) {
    drawn = i % 4 == 0 ? next32() : drawn >> 8;
    bits[i] = static_cast<std::uint8_t>(drawn >> 7 & 1U);
  }
}

numpy_random_state numpy_random::save() const {
  return {.state_high = static_cast<std::uint64_t>(state_ >> 64),
          .state_low = static_cast<std::uint64_t>(state_),
          .increment_high = static_cast<std::uint64_t>(increment_ >> 64),
          .increment_low = static_cast<std::uint64_t>(increment_),
          .buffered = buffered_,
          .has_buffered = has_buffered_};
}

void numpy_random::restore(const numpy_random_state& state) {
  state_ = static_cast<uint128>(state.state_high) << 64 | state.state_low;
  increment_ = static_cast<uint128>(state.increment_high) << 64 | state.increment_low;
  buffered_ = state.buffered;
  has_buffered_ = state.has_buffered;
}

void put_random(state_writer& to, std::string_view name, const numpy_random& random) {
  const auto s = random.save();
  to.put(name, std::vector<std::uint64_t>{s.state_high, s.state_low, s.increment_high,
                                          s.increment_low, s.buffered, s.has_buffered});
}

numpy_random get_random(const state_reader& from, std::string_view name) {
  const auto words = from.get<std::vector<std::uint64_t>>(name);
  if (words.size() != 6)
    throw state_error("saved state: " + std::string(name) +
                      ": expected a generator's 6 words, got " + std::to_string(words.size()));
  return numpy_random(numpy_random_state{.state_high = words[0],
                                         .state_low = words[1],
                                         .increment_high = words[2],
                                         .increment_low = words[3],
                                         .buffered = static_cast<std::uint32_t>(words[4]),
                                         .has_buffered = words[5] != 0});
}

}  // namespace troupe
