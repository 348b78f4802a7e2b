#include "actors/environments/space_sampler.hpp"

#include <bit>
#include <limits>

#include "tests/test.hpp"

using namespace troupe;

// The samples are Gymnasium 1.4's after `space.seed(seed)`.

namespace {

template <class T>
std::vector<T> draw(const space& what, std::uint64_t seed, int count) {
  space_sampler sampler(what, seed);
  std::vector<T> drawn;
  for (int i = 0; i < count; ++i) drawn.push_back(std::get<T>(sampler.sample()));
  return drawn;
}

std::vector<std::uint32_t> bits_of(const std::vector<float>& floats) {
  std::vector<std::uint32_t> bits;
  for (float value : floats) bits.push_back(std::bit_cast<std::uint32_t>(value));
  return bits;
}

using integers = std::vector<std::int64_t>;
using bytes = std::vector<std::uint8_t>;
using words = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("space_sampler: integers equal Gymnasium's", "[env]") {
  CHECK(draw<std::int64_t>(spaces::discrete(4), 123, 8) == integers{0, 2, 2, 0, 3, 0, 1, 0});
  CHECK(draw<std::int64_t>(spaces::discrete(3, -1), 7, 6) == integers{1, 0, 1, 1, 0, 1});
  CHECK(draw<integers>(spaces::multi_discrete({3, 5, 2}), 123, 3) ==
        std::vector<integers>{{2, 0, 0}, {0, 0, 1}, {2, 1, 1}});
  CHECK(draw<integers>(spaces::multi_discrete({3, 5}, {10, -4}), 5, 3) ==
        std::vector<integers>{{12, 0}, {11, -3}, {10, -3}});
  CHECK(draw<bytes>(spaces::multi_binary(6), 123, 3) ==
        std::vector<bytes>{{1, 1, 1, 0, 1, 1}, {0, 0, 1, 1, 1, 0}, {1, 1, 1, 1, 0, 1}});
}

TEST_CASE("space_sampler: bounded boxes equal Gymnasium's bit for bit", "[env]") {
  const auto twice = draw<std::vector<float>>(spaces::box(-2, 2, {2}), 123, 2);
  CHECK(bits_of(twice[0]) == words{1060813426, 3219419538});
  CHECK(bits_of(twice[1]) == words{3213831422, 3215038981});
  const auto once = draw<std::vector<float>>(spaces::box({0, -1, 5}, {1, 3, 5.5F}), 9, 1);
  CHECK(bits_of(once[0]) == words{1063176359, 1041681828, 1084860031});
}

TEST_CASE("space_sampler: texts equal Gymnasium's", "[env]") {
  CHECK(draw<std::string>(spaces::text(8), 123, 4) ==
        std::vector<std::string>{"3", "DBAovH", "tVFpDjd", "vEnWEAU"});
  CHECK(draw<std::string>(spaces::text(5, 2, "ab"), 3, 4) ==
        std::vector<std::string>{"abbaa", "aa", "aaba", "bbba"});
}

TEST_CASE("space_sampler: parts of a dict have generators seeded by the dict's", "[env]") {
  const space sensors =
      spaces::dict({{"b", spaces::discrete(10)},
                    {"a", spaces::box(-1, 1, {2})},
                    {"c", spaces::tuple({spaces::multi_binary(3), spaces::discrete(5)})}});
  const auto drawn = draw<std::vector<space_value>>(sensors, 11, 2);
  CHECK(bits_of(std::get<std::vector<float>>(drawn[0][0])) == words{1059478971, 3193455441});
  CHECK(std::get<std::int64_t>(drawn[0][1]) == 6);
  CHECK(bits_of(std::get<std::vector<float>>(drawn[1][0])) == words{1050174271, 1031078064});
  CHECK(std::get<std::int64_t>(drawn[1][1]) == 5);
  const auto& nested = std::get<std::vector<space_value>>(drawn[1][2]);
  CHECK(std::get<bytes>(nested[0]) == bytes{0, 1, 1});
  CHECK(std::get<std::int64_t>(nested[1]) == 3);
}

TEST_CASE("space_sampler: boxes without bounds are sampled inside, with the mean that is meant",
          "[env]") {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const space box = spaces::box({-infinity, 2, -infinity, 0}, {infinity, infinity, 5, 1});
  space_sampler sampler(box, 1);
  std::array<double, 4> sums{};
  constexpr int count = 20'000;
  for (int i = 0; i < count; ++i) {
    const auto value = sampler.sample();
    REQUIRE(box.contains(value));
    for (std::size_t d = 0; d < 4; ++d) sums[d] += std::get<std::vector<float>>(value)[d];
  }
  // The mean of 20,000 has a standard deviation of 0.007, of the last one 0.002.
  CHECK(sums[0] / count == Approx(0.0).margin(0.03));
  CHECK(sums[1] / count == Approx(3.0).margin(0.03));
  CHECK(sums[2] / count == Approx(4.0).margin(0.03));
  CHECK(sums[3] / count == Approx(0.5).margin(0.01));
}
