#include "actors/replay/transition_priorities.hpp"

#include <cmath>
#include <limits>
#include <map>

#include "actors/checkpoint/state.hpp"
#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

using testing::has_text;

constexpr priority_options proportional{.alpha = 1, .beta = 0.5, .beta_end = 1, .eps = 1e-9};

struct drawn {
  std::vector<std::int64_t> numbers;
  std::vector<float> weights;
  std::map<std::int64_t, int> counts;
};

drawn draw(transition_priorities& from, std::size_t count, double progress_remaining = 1,
           std::uint64_t seed = 1) {
  drawn got;
  action_random random(seed);
  from.draw(count, progress_remaining, random, got.numbers, got.weights);
  for (const auto number : got.numbers) ++got.counts[number];
  return got;
}

void give(transition_priorities& to, std::vector<std::int64_t> numbers, std::vector<float> errors) {
  to.update(numbers, errors);
}

TEST_CASE("transition_priorities: drawn in proportion, and corrected for by weights") {
  transition_priorities priorities(proportional, 8);
  priorities.insert(4);
  give(priorities, {0, 1, 2, 3}, {1, 2, -3, 4});
  const auto got = draw(priorities, 1000);
  for (int i = 0; i < 4; ++i) CHECK(std::abs(got.counts.at(i) - 100 * (i + 1)) <= 2);
  for (std::size_t i = 0; i < got.numbers.size(); ++i) {  // (N P)^-1/2, over that of the rarest
    CHECK(got.weights[i] == Approx(std::pow(got.numbers[i] + 1.0, -0.5)));
  }
  const auto last = draw(priorities, 100, 0);
  CHECK(last.weights.back() == Approx(1.0 / (last.numbers.back() + 1)));  // beta is 1 at the end
}

TEST_CASE("transition_priorities: alpha 0 is uniform, with weights of 1") {
  transition_priorities priorities({.alpha = 0}, 4);
  priorities.insert(4);
  give(priorities, {0, 1, 2, 3}, {1, 2, 3, 400});
  const auto got = draw(priorities, 400);
  for (int i = 0; i < 4; ++i) CHECK(std::abs(got.counts.at(i) - 100) <= 2);
  for (const auto weight : got.weights) CHECK(weight == 1);
}

TEST_CASE("transition_priorities: a new one has the highest priority so far") {
  transition_priorities priorities(proportional, 8);
  priorities.insert(1);
  CHECK(priorities.priority_weight(0) == 1);
  give(priorities, {0}, {5});
  give(priorities, {0}, {2});
  priorities.insert(1);
  CHECK(priorities.priority_weight(1) == Approx(5));
}

TEST_CASE("transition_priorities: the oldest go, what is said of them later changes nothing") {
  transition_priorities priorities(proportional, 3);
  priorities.insert(5);
  CHECK(priorities.size() == 3);
  give(priorities, {0, 1, 2, 3, 4}, {100, 100, 1, 2, std::numeric_limits<float>::quiet_NaN()});
  CHECK(priorities.priority_weight(1) == 0);
  CHECK(priorities.priority_weight(4) == 1);
  const auto got = draw(priorities, 400);
  CHECK(got.counts.size() == 3);
  CHECK(std::abs(got.counts.at(2) - 100) <= 2);
  CHECK(std::abs(got.counts.at(3) - 200) <= 2);
  CHECK(std::abs(got.counts.at(4) - 100) <= 2);
}

TEST_CASE("transition_priorities: what is restored goes on bit for bit") {
  transition_priorities first({}, 100);
  first.insert(130);
  action_random random(3);
  for (std::int64_t i = 20; i < 120; ++i) {
    give(first, {i}, {static_cast<float>(random.normal())});
  }
  state_writer to;
  first.save(to);
  transition_priorities second({}, 100), smaller({}, 50);
  second.restore(state_reader(to.bytes()));
  for (int i = 0; i < 5; ++i) {
    const auto a = draw(first, 64, 0.3, 7), b = draw(second, 64, 0.3, 7);
    CHECK(a.numbers == b.numbers);
    CHECK(a.weights == b.weights);
    for (auto* priorities : {&first, &second}) {
      give(*priorities, a.numbers, a.weights);
      priorities->insert(3);
    }
  }
  CHECK_THROWS_AS(smaller.restore(state_reader(to.bytes())), state_error);
}

TEST_CASE("transition_priorities: options and errors that don't fit are named") {
  CHECK_THROWS_WITH(transition_priorities({.alpha = -1}, 1), Catch::Contains("alpha"));
  CHECK_THROWS_WITH(transition_priorities({.beta = 2}, 1), Catch::Contains("beta"));
  CHECK_THROWS_WITH(transition_priorities({.beta_end = -1}, 1), Catch::Contains("beta_end"));
  CHECK_THROWS_WITH(transition_priorities({.eps = 0}, 1), Catch::Contains("eps"));
  transition_priorities priorities({}, 4);
  priorities.insert(2);
  CHECK_THROWS_WITH(give(priorities, {0, 1}, {1}), Catch::Contains("for each of 2"));
}

TEST_CASE("importance_weights: equals numbers worked out by hand") {
  // N P = 2, 1, 0.5; to the power -1: 0.5, 1, 2; over their maximum: 0.25, 0.5, 1.
  const std::vector<double> probabilities{0.5, 0.25, 0.125};
  const auto full = importance_weights(probabilities, 4, 1);
  CHECK(full[0] == Approx(0.25));
  CHECK(full[1] == Approx(0.5));
  CHECK(full[2] == Approx(1));
  // To the power -1/2 all of them are square roots.
  const auto half = importance_weights(probabilities, 4, 0.5);
  CHECK(half[0] == Approx(0.5));
  CHECK(half[1] == Approx(std::sqrt(0.5)));
  CHECK(importance_weights(probabilities, 4, 0) == std::vector<double>{1, 1, 1});
}

TEST_CASE("importance_weights: a probability next to nothing gives no infinity") {
  const std::vector<double> probabilities{5e-324, 1};
  const auto weights = importance_weights(probabilities, 4, 1);
  CHECK(weights[0] == 1);
  CHECK(weights[1] >= 0);
  CHECK(weights[1] < 1e-300);
}

TEST_CASE("importance_weights: refuses what is no beta and no probability") {
  const std::vector<double> bad{0};
  CHECK_THROWS_WITH(importance_weights({}, 4, 1.5), has_text("within 0 .. 1, got 1.5"));
  CHECK_THROWS_AS(importance_weights({}, 4, std::nan("")), std::invalid_argument);
  CHECK_THROWS_WITH(importance_weights(bad, 4, 1), has_text("expected a probability"));
  CHECK(importance_weights({}, 4, 1).empty());
}

}  // namespace
}  // namespace troupe
