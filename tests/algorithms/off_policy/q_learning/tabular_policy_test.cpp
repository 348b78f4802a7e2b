#include "algorithms/off_policy/q_learning/tabular_policy.hpp"

#include <algorithm>
#include <set>

#include "tests/test.hpp"

using namespace troupe;

namespace {

q_table table_of(std::vector<double> values, double epsilon = 0, std::int64_t actions = 2) {
  return {.version = 7,
          .epsilon = epsilon,
          .actions = actions,
          .values = std::make_shared<const std::vector<double>>(std::move(values))};
}

}  // namespace

TEST_CASE("tabular_policy: takes the best action of each state, of equal ones the first") {
  tabular_policy policy({}, table_of({1, 2, 5, 3, 4, 4}), 1);
  const auto chosen = policy.act({0, 1, 2, 0});
  CHECK(chosen.actions == std::vector<std::int64_t>{1, 0, 0, 1});
  CHECK(chosen.version == 7);
}

TEST_CASE("tabular_policy: draws a share of epsilon from all actions alike") {
  tabular_policy policy({}, table_of({0, 0, 1}, 0.3, 3), 5);
  const auto chosen = policy.act(std::vector<std::int64_t>(30'000, 0)).actions;
  // 0.3 / 3 of 30,000 is 3,000, with a standard deviation of 52.
  for (const std::int64_t action : {0, 1}) {
    CHECK(std::abs(std::count(chosen.begin(), chosen.end(), action) - 3000) < 260);
  }
}

TEST_CASE("tabular_policy: seeds, replicas and their restarts draw from streams of their own") {
  const auto even = table_of({0, 0}, 1);
  const std::vector<std::int64_t> states(64, 0);
  const auto drawn = [&](std::uint64_t seed, std::size_t index, std::size_t generation) {
    tabular_policy policy({.index = index, .generation = generation}, even, seed);
    return policy.act(states).actions;
  };
  std::set<std::vector<std::int64_t>> streams;
  for (const std::uint64_t seed : {5, 6, 5 + 1'000'003, 5 + 7'368'787}) {
    for (const std::size_t index : {0, 1}) {
      for (const std::size_t generation : {0, 1}) streams.insert(drawn(seed, index, generation));
    }
  }
  CHECK(streams.size() == 16);
  CHECK(drawn(5, 0, 0) == drawn(5, 0, 0));
}

TEST_CASE("tabular_policy: an update takes effect at the next call") {
  tabular_policy policy({}, table_of({1, 0}), 1);
  policy.update(table_of({0, 1}));
  CHECK(policy.act({0}).actions[0] == 1);
}

TEST_CASE("tabular_policy: tables and states that can't be are refused") {
  CHECK_THROWS_WITH(tabular_policy({}, table_of({1, 2, 3}), 1),
                    "tabular policy: expected whole rows of 2 actions, got 3 values");
  CHECK_THROWS_AS(tabular_policy({}, q_table{}, 1), std::invalid_argument);
  tabular_policy policy({}, table_of({1, 2}), 1);
  CHECK_THROWS_WITH(policy.update(table_of({1, 2}, 1.5)),
                    "tabular policy: epsilon: expected 0 to 1, got 1.5");
  CHECK_THROWS_WITH(policy.act({1}), "tabular policy: state: expected 0 to 0, got 1");
}
