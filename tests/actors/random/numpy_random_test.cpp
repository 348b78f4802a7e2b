#include "actors/random/numpy_random.hpp"

#include <limits>
#include <vector>

#include "tests/test.hpp"

using namespace troupe;

// The numbers are NumPy 2.4's.

TEST_CASE("seed_sequence: the pool equals NumPy's, also for more than 128 bits", "[env]") {
  CHECK(seed_sequence(42).pool() ==
        std::array<std::uint32_t, 4>{0x631d3606, 0x07ae90ae, 0x6fc4be28, 0x2ced5c75});
  const std::vector<std::uint32_t> long_entropy{5, 0, 0, 0, 4};  // 2^130 + 5
  const seed_sequence sequence(long_entropy);
  CHECK(sequence.pool() ==
        std::array<std::uint32_t, 4>{0xeadb24d1, 0xc54ff8fe, 0x5c769898, 0xff10252b});
  std::vector<std::uint32_t> words(3);
  sequence.generate_state(words);
  CHECK(words == std::vector<std::uint32_t>{0xe6187234, 0x79f03193, 0xe432e6cf});
}

TEST_CASE("numpy_random: raw words equal NumPy's PCG64", "[env]") {
  numpy_random of_42(42);
  CHECK(of_42.next64() == 0xc621fbcd16d92688);
  CHECK(of_42.next64() == 0x705a5661a791ffc1);
  CHECK(of_42.next64() == 0xdbcd12c26eda1624);
  numpy_random of_two_words(std::uint64_t{1} << 32);
  CHECK(of_two_words.next64() == 0xe3c5ebe285ac1625);
  CHECK(of_two_words.next64() == 0x8ea09968fe31dbcc);
  numpy_random of_the_largest(std::numeric_limits<std::uint64_t>::max());
  CHECK(of_the_largest.next64() == 0xae163a7a8c47568f);
  CHECK(of_the_largest.next64() == 0xd86659f5f3382359);
}

TEST_CASE("numpy_random: random gives NumPy's doubles", "[env]") {
  numpy_random of_42(42);
  CHECK(of_42.random() == .7739560485559633);
  CHECK(of_42.random() == .4388784397520523);
  CHECK(of_42.random() == .8585979199113825);
  CHECK(of_42.random() == .6973680290593639);
  numpy_random of_0(0);
  CHECK(of_0.random() == .6369616873214543);
  CHECK(of_0.random() == .2697867137638703);
}

TEST_CASE("numpy_random: mixed draws keep the buffered half as NumPy does", "[env]") {
  constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t highest = std::numeric_limits<std::int64_t>::max();
  numpy_random random(7);
  CHECK(random.integers(0, 10) == 9);
  CHECK(random.random() == 0.8972138009695755);
  CHECK(random.integers(0, 10) == 6);
  CHECK(random.integers(0, std::int64_t{1} << 40) == 852875435924);
  CHECK(random.integers(-5, (std::int64_t{1} << 32) - 5) == 3580503869);
  CHECK(random.integers(3, 4) == 3);  // draws nothing
  CHECK(random.integers(0, 10) == 2);
  CHECK(random.integers(lowest, highest) == -3686281399541214908);
  CHECK(random.integers(0, highest) == 8057108420966028185);
  CHECK(random.random() == 0.005265304565574724);
  CHECK(random.uniform(-3, 4) == 2.748598928679364);
  const std::vector<int> items{4, 5, 6};
  CHECK(random.choice(std::span<const int>(items)) == 4);
}

TEST_CASE("numpy_random: bounded integers reject what NumPy rejects", "[env]") {
  numpy_random random(7);
  std::vector<std::int64_t> drawn;
  for (int i = 0; i < 6; ++i) drawn.push_back(random.integers(0, 3LL << 30));
  for (int i = 0; i < 3; ++i) drawn.push_back(random.integers(0, 3LL << 61));
  CHECK(drawn == std::vector<std::int64_t>{3043751912, 2013573438, 2203897839, 1862810377,
                                           2498658503, 2685377905, 2076408988992585337,
                                           6042831315724521139, 5680871422486561426});
}

TEST_CASE("numpy_random: a restored state continues the stream, its buffered half too", "[env]") {
  numpy_random random(3);
  random.integers(0, 10);
  const auto saved = random.save();
  CHECK(saved.has_buffered);
  std::vector<std::int64_t> first, second;
  for (int i = 0; i < 9; ++i) first.push_back(random.integers(0, 1000));
  numpy_random restored(saved);
  CHECK(restored.save() == saved);
  for (int i = 0; i < 9; ++i) second.push_back(restored.integers(0, 1000));
  CHECK(first == second);
}

TEST_CASE("numpy_random: an empty range is refused", "[env]") {
  numpy_random random(3);
  CHECK_THROWS_WITH(random.integers(4, 4),
                    "numpy_random::integers: expected low < high, got 4 and 4");
}
