#include "actors/networks/choice_map.hpp"

#include <stdexcept>

#include "runtime/base/recycled_vector.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using integers = recycled_vector<std::int64_t>;

integers of_environment(const space& actions, integers choices) {
  choice_map(actions).to_environment(choices);
  return choices;
}

TEST_CASE("choice_map: choices become the integers of the action space") {
  CHECK(of_environment(spaces::discrete(3), {0, 2}) == integers{0, 2});
  CHECK(of_environment(spaces::discrete(3, -1), {0, 2}) == integers{-1, 1});
  CHECK(of_environment(spaces::multi_discrete({3, 2}, {5, 10}), {0, 1, 2, 0}) ==
        integers{5, 11, 7, 10});
  CHECK(of_environment(spaces::multi_binary(2), {1, 0}) == integers{1, 0});
  CHECK(of_environment(spaces::box(-1, 1, {2}), {}).empty());
}

TEST_CASE("choice_map: the zeros and ones of a Tuple go back to their places") {
  // The network has the options of 3 and 2 first, and then the three bits.
  const spaces::tuple mixed({spaces::multi_binary(1), spaces::discrete(3, 5),
                             spaces::box(0, 1, {4}), spaces::multi_binary(2), spaces::discrete(2)});
  CHECK(of_environment(mixed, {2, 1, 1, 0, 1, 0, 0, 0, 1, 0}) ==
        integers{1, 7, 0, 1, 1, 0, 5, 1, 0, 0});
}

TEST_CASE("choice_map: a space with a text is refused by name") {
  CHECK_THROWS_WITH(choice_map(spaces::tuple({spaces::text(3)})),
                    Catch::Contains("expected actions of numbers, got Text("));
}

}  // namespace
}  // namespace troupe
