#include "actors/random/action_random.hpp"

#include <vector>

#include "tests/test.hpp"

using namespace troupe;

TEST_CASE("action_random: a restored state continues the same sequence", "[policy]") {
  action_random random(7);
  random.normal();
  const auto state = random.state();
  const std::vector<double> expected = {random.normal(), random.uniform(),
                                        static_cast<double>(random.below(1000))};
  action_random other(8);
  other.set_state(state);
  CHECK(other.normal() == expected[0]);
  CHECK(other.uniform() == expected[1]);
  CHECK(other.below(1000) == expected[2]);
}

TEST_CASE("action_random: neighbouring seeds give unrelated numbers", "[policy]") {
  action_random one(1), two(2), again(1);
  const auto first = one.next();
  CHECK(first == again.next());
  CHECK(first != two.next());
}

TEST_CASE("action_random: uniform and normal numbers have the moments they should", "[policy]") {
  action_random random(3);
  constexpr int count = 200000;
  double uniform_sum = 0.0, normal_sum = 0.0, normal_squares = 0.0;
  for (int i = 0; i < count; ++i) {
    const double u = random.uniform();
    REQUIRE((u >= 0.0 && u < 1.0));
    const double n = random.normal();
    uniform_sum += u;
    normal_sum += n;
    normal_squares += n * n;
  }
  CHECK(uniform_sum / count == Approx(0.5).margin(0.004));
  CHECK(normal_sum / count == Approx(0.0).margin(0.012));
  CHECK(normal_squares / count == Approx(1.0).margin(0.015));
}

TEST_CASE("action_random: below gives every number of its range equally often", "[policy]") {
  action_random random(4);
  std::vector<int> counts(7);
  for (int i = 0; i < 70000; ++i) ++counts.at(random.below(7));
  for (int count : counts) CHECK(count == Approx(10000).margin(500));
}
