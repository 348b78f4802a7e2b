#include "actors/recorder/evaluation_history.hpp"

#include <algorithm>

#include "actors/recorder/recorder.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

TEST_CASE("add_evaluation: keeps so many, spread over all steps, with the best one", "[recorder]") {
  std::vector<curve_evaluation> all;
  constexpr int count = 5000, best = 777;
  for (int i = 0; i < count; ++i) {
    add_evaluation(all, {100.0 * i, i == best ? 2.0 : 1.0, 0}, 50);
    REQUIRE(all.size() == static_cast<std::size_t>(std::min(i + 1, 50)));
  }
  CHECK(all.front().step == 0);
  CHECK(all.back().step == 100.0 * (count - 1));
  CHECK(std::ranges::count(all, 2.0, &curve_evaluation::mean) == 1);
  CHECK(std::ranges::is_sorted(all, {}, &curve_evaluation::step));
  double widest = 0;
  for (std::size_t i = 1; i < all.size(); ++i)
    widest = std::max(widest, all[i].step - all[i - 1].step);
  CHECK(widest <= 3 * 100.0 * count / 50);
}

TEST_CASE("add_evaluation: steps that are all the same are no harm", "[recorder]") {
  std::vector<curve_evaluation> all;
  for (int i = 0; i < 10; ++i) add_evaluation(all, {7, static_cast<double>(i), 0}, 3);
  CHECK(all.size() == 3);
  CHECK(all.back().mean == 9);
}

TEST_CASE("recorder: what it saves has a bound, however many evaluations there were",
          "[recorder]") {
  const temporary_folder folder;
  recorder of({.root = folder.path, .algo = "ppo", .env = "CartPole-v1", .total_steps = 100000});
  std::int64_t step = 0;
  const auto evaluate = [&](int times) {
    for (int i = 0; i < times; ++i) of.evaluation(++step, 1, 0, 1);
  };
  evaluate(1500);
  const auto before = of.save().size();
  evaluate(1500);
  // Only the numbers of rows and bytes in the files may be longer.
  CHECK(of.save().size() < before + 100);
}

}  // namespace
}  // namespace troupe
