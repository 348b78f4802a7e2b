#include "actors/environments/space.hpp"

#include <cmath>
#include <limits>

#include "tests/test.hpp"

using namespace troupe;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

space sensors() {
  return spaces::dict({{"b", spaces::discrete(10)},
                       {"a", spaces::box(-1, 1, {2})},
                       {"c", spaces::tuple({spaces::multi_binary(3), spaces::discrete(5)})}});
}

space_value integer(std::int64_t value) { return value; }

}  // namespace

TEST_CASE("space: each kind contains its elements and no others", "[env]") {
  const space box = spaces::box({-1, 0}, {1, infinity});
  CHECK(box.contains(std::vector<float>{-1, 1e9F}));
  CHECK_FALSE(box.contains(std::vector<float>{-1.1F, 0}));
  CHECK_FALSE(box.contains(std::vector<float>{0, std::nanf("")}));
  CHECK_FALSE(box.contains(std::vector<float>{0}));
  CHECK_FALSE(box.contains(integer(0)));

  const space discrete = spaces::discrete(3, -1);
  CHECK(discrete.contains(integer(-1)));
  CHECK(discrete.contains(integer(1)));
  CHECK_FALSE(discrete.contains(integer(2)));
  CHECK_FALSE(discrete.contains(integer(-2)));

  const space multi_discrete = spaces::multi_discrete({3, 2}, {1, 0});
  CHECK(multi_discrete.contains(std::vector<std::int64_t>{3, 1}));
  CHECK_FALSE(multi_discrete.contains(std::vector<std::int64_t>{0, 1}));
  CHECK_FALSE(multi_discrete.contains(std::vector<std::int64_t>{1, 2}));

  const space multi_binary = spaces::multi_binary(2);
  CHECK(multi_binary.contains(std::vector<std::uint8_t>{1, 0}));
  CHECK_FALSE(multi_binary.contains(std::vector<std::uint8_t>{2, 0}));

  const space text = spaces::text(3, 1, "ab");
  CHECK(text.contains(std::string("aba")));
  CHECK_FALSE(text.contains(std::string("")));
  CHECK_FALSE(text.contains(std::string("abab")));
  CHECK_FALSE(text.contains(std::string("c")));
}

TEST_CASE("space: a dict is kept in order of its names and contains part by part", "[env]") {
  const space_value good = std::vector<space_value>{
      std::vector<float>{0, 0}, integer(6),
      std::vector<space_value>{std::vector<std::uint8_t>{1, 0, 0}, integer(0)}};
  const space_value bad = std::vector<space_value>{
      std::vector<float>{0, 0}, integer(6),
      std::vector<space_value>{std::vector<std::uint8_t>{1, 0, 0}, integer(5)}};
  CHECK(sensors().contains(good));
  CHECK_FALSE(sensors().contains(bad));
}

TEST_CASE("space: flattening equals Gymnasium's", "[env]") {
  const space_value value = std::vector<space_value>{
      std::vector<float>{0.5F, -0.25F}, integer(6),
      std::vector<space_value>{std::vector<std::uint8_t>{1, 0, 0}, integer(0)}};
  CHECK(sensors().flat_size() == 20);
  CHECK(sensors().flatten(value) ==
        std::vector<float>{0.5F, -0.25F, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0});
  const space text = spaces::text(4, 1, "abc");
  CHECK(text.flatten(std::string("cb")) == std::vector<float>{2, 1, 3, 3});
  const space shifted = spaces::multi_discrete({3, 2}, {1, 0});
  CHECK(shifted.flatten(std::vector<std::int64_t>{2, 1}) == std::vector<float>{0, 1, 0, 0, 1});
  CHECK_THROWS_WITH(shifted.flatten(integer(1)),
                    "flatten: expected a value of MultiDiscrete([3 2], start=[1 0]), got one "
                    "outside of it");
}

TEST_CASE("space: equality compares kind and contents", "[env]") {
  CHECK(sensors() == sensors());
  CHECK(space(spaces::discrete(2)) != space(spaces::discrete(3)));
  CHECK(space(spaces::discrete(2)) != space(spaces::multi_binary(2)));
  CHECK(space(spaces::tuple({spaces::discrete(2)})) != space(spaces::tuple({})));
}

TEST_CASE("space: prints as Gymnasium does", "[env]") {
  CHECK(to_string(sensors()) ==
        "Dict('a': Box(-1.0, 1.0, (2,), float32), 'b': Discrete(10), 'c': "
        "Tuple(MultiBinary(3), Discrete(5)))");
  CHECK(to_string(spaces::box(-infinity, infinity, {2, 3})) == "Box(-inf, inf, (2, 3), float32)");
  CHECK(to_string(spaces::multi_discrete({3, 5})) == "MultiDiscrete([3 5])");
  CHECK(to_string(spaces::discrete(3, -1)) == "Discrete(3, start=-1)");
  CHECK(to_string(spaces::text(3, 1, "ab")) == "Text(1, 3, charset=ab)");
}

TEST_CASE("space: bounds and sizes that make no space are refused", "[env]") {
  CHECK_THROWS_WITH(spaces::box({0, 2}, {1, 1}),
                    "box: expected low <= high at element 1, got 2 and 1");
  CHECK_THROWS_WITH(spaces::box({0}, {1, 1}),
                    "box: expected as many low as high bounds, got 1 and 2");
  CHECK_THROWS_WITH(spaces::discrete(0), "discrete: expected n > 0, got 0");
  CHECK_THROWS_WITH(spaces::text(1, 2),
                    "text: expected 0 <= min_length <= max_length, got 2 and 1");
  CHECK_THROWS_WITH(spaces::dict({{"a", spaces::discrete(1)}, {"a", spaces::discrete(1)}}),
                    "dict: expected names once, got \"a\" twice");
}
