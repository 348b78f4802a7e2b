#include "actors/environments/discrete_states.hpp"

#include <set>

#include "tests/test.hpp"

using namespace troupe;

namespace {

space six_states() { return spaces::tuple({spaces::discrete(2), spaces::discrete(3)}); }

}  // namespace

TEST_CASE("discrete_states: every observation of a tuple has a number of its own", "[env]") {
  const auto space = six_states();
  const discrete_states states(space);
  CHECK(states.size() == 6);
  std::set<std::int64_t> seen;
  for (std::int64_t a = 0; a < 2; ++a) {
    for (std::int64_t b = 0; b < 3; ++b) {
      const std::vector<space_value> parts{space_value(a), space_value(b)};
      const auto index = states.index(space.flatten(space_value(parts)));
      CHECK(index == states.index(std::vector<std::int64_t>{a, b}));
      CHECK(index == 3 * a + b);
      seen.insert(index);
    }
  }
  CHECK(seen.size() == 6);
}

TEST_CASE("discrete_states: one discrete space counts from its start", "[env]") {
  const space shifted = spaces::discrete(4, 10);
  const discrete_states states(shifted);
  CHECK(states.size() == 4);
  CHECK(states.index(shifted.flatten(space_value(std::int64_t{12}))) == 2);
}

TEST_CASE("discrete_states: what is no one-hot observation is refused", "[env]") {
  const discrete_states states(six_states());
  const std::vector<float> none{0, 0, 0, 1, 0}, two{1, 1, 0, 1, 0}, half{0.5F, 0.5F, 0, 1, 0};
  CHECK_THROWS_AS(states.index(none), std::invalid_argument);
  CHECK_THROWS_AS(states.index(two), std::invalid_argument);
  CHECK_THROWS_AS(states.index(half), std::invalid_argument);
  CHECK_THROWS_WITH(states.index(std::vector<float>{1, 0, 1}),
                    "discrete states: expected an observation of 5 floats, got 3");
  CHECK_THROWS_WITH(states.index(std::vector<std::int64_t>{1, 3}),
                    "discrete states: part 1: expected 0 to 2, got 3");
  CHECK_THROWS_WITH(states.index(std::vector<std::int64_t>{1}),
                    "discrete states: expected 2 parts, got 1");
}

TEST_CASE("discrete_states: multi-discrete spaces, tuples and dicts number their parts", "[env]") {
  const discrete_states many(spaces::multi_discrete({2, 3}));
  CHECK(many.size() == 6);
  CHECK(many.widths() == std::vector<std::int64_t>{2, 3});
  CHECK(many.index(std::vector<float>{0, 1, 0, 0, 1}) == 5);
  const discrete_states nested(
      spaces::tuple({spaces::discrete(2), spaces::dict({{"a", spaces::multi_discrete({3, 2})}})}));
  CHECK(nested.widths() == std::vector<std::int64_t>{2, 3, 2});
  CHECK(nested.index(std::vector<float>{0, 1, 1, 0, 0, 0, 1}) == 7);
}

TEST_CASE("discrete_states: a space that can't be numbered is named", "[env]") {
  CHECK_THROWS_WITH(
      discrete_states(spaces::box(0.0F, 1.0F, {1})),
      "discrete states: expected a discrete or multi-discrete observation space, or a "
      "tuple or dict of them, "
      "got Box(0.0, 1.0, (1,), float32)");
  CHECK_THROWS_AS(discrete_states(spaces::tuple({spaces::discrete(2), spaces::multi_binary(2)})),
                  std::invalid_argument);
  const auto wide = spaces::discrete(100'000);
  CHECK_THROWS_AS(discrete_states(spaces::tuple({wide, wide})), std::invalid_argument);
}
