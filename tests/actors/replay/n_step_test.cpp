#include "actors/replay/n_step.hpp"

#include <random>

#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

using step = transition<int, int>;
using accumulator = n_step<int, int>;

/// Step `t` of an episode: observation t, action 10 t, on to observation t + 1.
step running(int t, double reward) {
  return {.obs = t, .action = 10 * t, .reward = reward, .next_obs = t + 1};
}
step terminated(int t, double reward) {
  auto last = running(t, reward);
  last.terminated = true;
  return last;
}
step truncated(int t, double reward) {
  auto last = running(t, reward);
  last.truncated = true;
  return last;
}

}  // namespace

TEST_CASE("n_step: sums n discounted rewards and looks n steps ahead") {
  accumulator of(/*n=*/3, /*gamma=*/0.5);
  CHECK(of.add(running(0, 1)).empty());
  CHECK(of.add(running(1, 2)).empty());
  const auto first = of.add(running(2, 4));
  REQUIRE(first.size() == 1);
  CHECK(first[0].obs == 0);
  CHECK(first[0].action == 0);
  CHECK(first[0].reward == 3);        // 1 + 0.5 * 2 + 0.25 * 4
  CHECK(first[0].discount == 0.125);  // 0.5^3
  CHECK(first[0].next_obs == 3);
  CHECK(first[0].steps == 3);
  const auto second = of.add(running(3, 8));
  REQUIRE(second.size() == 1);
  CHECK(second[0].obs == 1);
  CHECK(second[0].action == 10);
  CHECK(second[0].reward == 6);  // 2 + 0.5 * 4 + 0.25 * 8
  CHECK(of.pending() == 2);
}

TEST_CASE("n_step: sums stop where the episode terminates, and nothing is added for what follows") {
  accumulator of(/*n=*/3, /*gamma=*/0.5);
  of.add(running(0, 1));
  const auto last = of.add(terminated(1, 2));
  REQUIRE(last.size() == 2);
  CHECK(last[0].reward == 2);  // 1 + 0.5 * 2
  CHECK(last[0].steps == 2);
  CHECK(last[0].discount == 0);
  CHECK(last[0].terminated);
  CHECK_FALSE(last[0].truncated);
  CHECK(last[1].obs == 1);
  CHECK(last[1].reward == 2);
  CHECK(last[1].steps == 1);
  CHECK(last[1].next_obs == 2);
  CHECK(of.pending() == 0);
}

TEST_CASE("n_step: a truncated episode keeps the discount of the steps that were made") {
  accumulator of(/*n=*/3, /*gamma=*/0.5);
  for (int t = 0; t < 3; ++t) of.add(running(t, 1));
  const auto last = of.add(truncated(3, 1));
  REQUIRE(last.size() == 3);
  CHECK(last[0].discount == 0.125);  // three steps
  CHECK(last[1].discount == 0.25);   // two
  CHECK(last[2].discount == 0.5);    // one
  for (const auto& sum : last) {
    CHECK(sum.truncated);
    CHECK_FALSE(sum.terminated);
    CHECK(sum.next_obs == 4);
  }
}

TEST_CASE("n_step: one step is the transition itself") {
  accumulator of(/*n=*/1, /*gamma=*/0.9);
  const auto first = of.add(running(0, 5));
  REQUIRE(first.size() == 1);
  CHECK(first[0].reward == 5);
  CHECK(first[0].discount == 0.9);
  CHECK(first[0].next_obs == 1);
}

TEST_CASE("n_step: no sum crosses the end of an episode") {
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    const int n = 1 + static_cast<int>(random() % 6);
    accumulator together(n, 0.75);
    std::size_t begun = 0, complete = 0;
    for (int episode = 0; episode < 10; ++episode) {
      accumulator alone(n, 0.75);
      const int length = 1 + static_cast<int>(random() % 12);
      for (int t = 0; t < length; ++t) {
        const double reward = random() % 8;
        auto next = running(1000 * episode + t, reward);
        next.terminated = t + 1 == length && random() % 2;
        next.truncated = t + 1 == length && !next.terminated;
        const auto one = alone.add(next), all = together.add(next);
        REQUIRE(one.size() == all.size());
        for (std::size_t i = 0; i < one.size(); ++i) {
          REQUIRE(one[i].obs == all[i].obs);
          REQUIRE(one[i].reward == all[i].reward);
          REQUIRE(one[i].discount == all[i].discount);
          REQUIRE(all[i].obs / 1000 == (all[i].next_obs - 1) / 1000);
        }
        ++begun;
        complete += all.size();
      }
      REQUIRE(complete == begun);  // every step begins one, and none is left open
    }
  }
}

TEST_CASE("n_step: forgets an episode that will not go on") {
  accumulator of(/*n=*/2, /*gamma=*/1);
  of.add(running(0, 100));
  of.clear();
  CHECK(of.add(running(5, 1)).empty());
  const auto next = of.add(running(6, 1));
  REQUIRE(next.size() == 1);
  CHECK(next[0].obs == 5);
  CHECK(next[0].reward == 2);
}

TEST_CASE("n_step: refuses no steps and a discount that is none") {
  CHECK_THROWS_WITH(accumulator(0, 0.9), "n_step: n: expected a number >= 1, got 0");
  CHECK_THROWS_WITH(accumulator(1, 1.5), testing::has_text("within 0 .. 1, got 1.5"));
  CHECK_THROWS_AS(accumulator(1, std::nan("")), std::invalid_argument);
}

}  // namespace troupe
