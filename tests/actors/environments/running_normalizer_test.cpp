#include "actors/environments/running_normalizer.hpp"

#include <cmath>
#include <limits>

#include "actors/checkpoint/state.hpp"
#include "actors/random/numpy_random.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

std::vector<float> random_rows(std::size_t rows, std::uint64_t seed) {
  numpy_random random(seed);
  std::vector<float> made;
  for (std::size_t i = 0; i < rows; ++i) {
    made.push_back(static_cast<float>(random.uniform(-1, 1)));
    made.push_back(static_cast<float>(random.uniform(1000, 1001)));
    made.push_back(static_cast<float>(1e-3 * random.random()));
  }
  return made;
}

// Expected: the update rule of Stable-Baselines3's RunningMeanStd, worked through in Python.
TEST_CASE("normalizer: two batches give Stable-Baselines3's mean and variance", "[env]") {
  running_normalizer normalizer(2);
  normalizer.update(std::vector<float>{1, 10, 3, 30});
  normalizer.update(std::vector<float>{2, -5});
  CHECK(normalizer.count() == Approx(3.0001).epsilon(1e-14));
  CHECK(normalizer.mean()[0] == Approx(1.9999333355554814).epsilon(1e-14));
  CHECK(normalizer.variance()[0] == Approx(0.6668111018523087).epsilon(1e-14));
  CHECK(normalizer.mean()[1] == Approx(11.666277790740308).epsilon(1e-14));
  CHECK(normalizer.variance()[1] == Approx(205.55327399889637).epsilon(1e-14));
  std::vector<float> row{2, -5};
  normalizer.apply(row);
  CHECK(row[0] == Approx(8.163809283527483e-05).epsilon(1e-6));
  CHECK(row[1] == Approx(-1.162455715201059).epsilon(1e-6));
}

TEST_CASE("normalizer: nothing seen leaves rows as they are, up to the clip", "[env]") {
  running_normalizer normalizer(1, {.clip = 5, .epsilon = 1e-12});
  std::vector<float> rows{-7, 0.25F, 7};
  normalizer.apply(rows);
  CHECK(rows == std::vector<float>{-5, 0.25F, 5});
}

TEST_CASE("normalizer: rows give the same statistics however they are divided", "[env]") {
  const auto rows = random_rows(600, 3);
  running_normalizer at_once(3), by_row(3);
  at_once.update(rows);
  for (std::size_t i = 0; i < rows.size(); i += 3)
    by_row.update(std::span<const float>(rows).subspan(i, 3));
  for (std::size_t d = 0; d < 3; ++d) {
    CHECK(by_row.mean()[d] == Approx(at_once.mean()[d]).epsilon(1e-12));
    CHECK(by_row.variance()[d] == Approx(at_once.variance()[d]).epsilon(1e-9));
  }
}

TEST_CASE("normalizer: what it was updated with comes out with mean 0 and variance 1", "[env]") {
  auto rows = random_rows(20'000, 4);
  running_normalizer normalizer(3);
  normalizer.update(rows);
  normalizer.apply(rows);
  running_normalizer after(3);
  after.update(rows);
  CHECK(std::abs(after.mean()[0]) < 1e-3);
  CHECK(after.variance()[0] == Approx(1).epsilon(1e-2));
  CHECK(std::abs(after.mean()[2]) < 1e-3);
  CHECK(after.variance()[2] == Approx(0.9).margin(0.1));  // epsilon counts at a variance of 8e-8
}

TEST_CASE("normalizer: without centring only the scale is divided away", "[env]") {
  running_normalizer normalizer(1, {.epsilon = 1e-12, .centre = false});
  normalizer.update(std::vector<double>{6, 10});
  const double deviation = std::sqrt(normalizer.variance()[0]);
  CHECK(deviation == Approx(2).epsilon(1e-3));
  std::vector<double> rewards{8};
  normalizer.apply(rewards);
  CHECK(rewards[0] == Approx(8 / deviation).epsilon(1e-12));
}

TEST_CASE("normalizer: it stands still while not training", "[env]") {
  running_normalizer normalizer(1);
  normalizer.update(std::vector<float>{1, 2, 3});
  const auto before = normalizer.state();
  normalizer.set_training(false);
  normalizer.update(std::vector<float>{100});
  CHECK(normalizer.state() == before);
  normalizer.set_training(true);
  normalizer.update(std::vector<float>{100});
  CHECK(normalizer.state() != before);
}

TEST_CASE("normalizer: a restored one goes on to the same bits", "[env]") {
  running_normalizer one(3), other(3);
  one.update(random_rows(50, 5));
  other.set_state(one.state());
  auto rows = random_rows(50, 6), same = rows;
  one.update(rows);
  other.update(rows);
  one.apply(rows);
  other.apply(same);
  CHECK(rows == same);
  CHECK(one.state() == other.state());
}

TEST_CASE("normalizer: what it can't take in is named and changes nothing", "[env]") {
  running_normalizer normalizer(2);
  const auto before = normalizer.state();
  CHECK_THROWS_WITH(normalizer.update(std::vector<float>{1, 2, 3}),
                    "normalizer: expected rows of 2 numbers, got 3 in all");
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK_THROWS_WITH(normalizer.update(std::vector<float>{1, 2, 3, nan}),
                    "normalizer: expected finite rows, got nan as the mean of column 1");
  CHECK(normalizer.state() == before);
  CHECK_THROWS_WITH(normalizer.set_state(running_normalizer(3).state()),
                    "normalizer: expected statistics of 2 columns, got those of 3");
  CHECK_THROWS_WITH(running_normalizer(0), "normalizer: expected a width >= 1, got 0");
  CHECK_THROWS_WITH(running_normalizer(1, {.clip = 0}), "normalizer: expected a clip > 0, got 0");
}

TEST_CASE("running moments: those of parts join to those of all rows", "[env]") {
  const auto rows = random_rows(60, 7);
  running_moments whole(3), joined(3);
  whole.add(rows);
  for (const auto& [from, count] : {std::pair(0, 10), std::pair(10, 1), std::pair(11, 49)}) {
    running_moments part(3);
    part.add(std::span<const float>(rows).subspan(3 * from, 3 * count));
    joined.add(running_moments::of_state(part.state()));
  }
  joined.add(running_moments(3));  // of no rows: nothing
  CHECK(joined.count() == 60);
  for (std::size_t d = 0; d < 3; ++d) {
    CHECK(joined.mean()[d] == Approx(whole.mean()[d]).epsilon(1e-12));
    CHECK(joined.variance()[d] == Approx(whole.variance()[d]).epsilon(1e-9));
  }
  // A normalizer is the same of rows and of their moments.
  running_normalizer by_rows(3), by_moments(3);
  by_rows.update(rows);
  by_moments.update(whole);
  CHECK(by_rows.state() == by_moments.state());
  CHECK_THROWS_WITH(whole.add(running_moments(2)),
                    "normalizer: expected moments of 3 columns, got 2");
}

TEST_CASE("discounted returns: they begin anew with every episode", "[env]") {
  discounted_returns returns(2, 0.5);
  const std::vector<std::uint8_t> none{0, 0};
  const auto sums = [&] {
    return std::vector<double>(returns.sums().begin(), returns.sums().end());
  };
  returns.step(std::vector<double>{1, 8}, none, none);
  CHECK(sums() == std::vector<double>{1, 8});
  returns.step(std::vector<double>{1, 2}, std::vector<std::uint8_t>{0, 1}, none);
  CHECK(sums() == std::vector<double>{1.5, 6});  // the step that ends an episode belongs to it
  returns.step(std::vector<double>{1, 2}, none, std::vector<std::uint8_t>{1, 0});
  CHECK(sums() == std::vector<double>{1.75, 2});

  discounted_returns restored(2, 0.5);
  restored.set_state(returns.state());
  for (auto* each : {&returns, &restored}) {
    each->step(std::vector<double>{3, 4}, none, none);
    CHECK(each->sums()[0] == 3);
    CHECK(each->sums()[1] == 5);
  }
  returns.restart(1);
  returns.step(std::vector<double>{0, 7}, none, none);
  CHECK(sums() == std::vector<double>{1.5, 7});
  CHECK_THROWS_WITH(returns.step(std::vector<double>{1}, none, none),
                    "discounted returns: expected a step of 2 environments, got 1 rewards, 2 and 2 "
                    "flags");
}

}  // namespace
}  // namespace troupe
