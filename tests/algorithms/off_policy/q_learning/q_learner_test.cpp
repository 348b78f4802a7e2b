#include "algorithms/off_policy/q_learning/q_learner.hpp"

#include <cmath>
#include <limits>
#include <numeric>

#include "actors/checkpoint/checkpoint_directory.hpp"
#include "actors/checkpoint/state.hpp"
#include "actors/data/dataset.hpp"
#include "actors/random/action_random.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/test.hpp"

using namespace troupe;

namespace {

std::vector<double> row(const q_learner& learner, std::int64_t state) {
  const auto values = learner.values(state);
  return {values.begin(), values.end()};
}

/// A corridor of five cells: 0 goes left, 1 right, the right end pays 1.
q_transition step_of(std::int64_t cell, std::int64_t action) {
  const auto next = std::max<std::int64_t>(0, cell + (action == 1 ? 1 : -1));
  const bool out = next == 5;
  return {cell, action, out ? 1.0 : 0.0, out, out ? 0 : next};
}

}  // namespace

TEST_CASE("q_learner: a step moves the value by Sutton and Barto's equation 6.8") {
  q_learner learner(3, 2, {.lr = 0.5, .gamma = 0.9});
  // Q(1, .) becomes {0, 0.5 * 4 = 2}.
  CHECK(learner.update({.state = 1, .action = 1, .reward = 4, .terminated = true}) == 4);
  CHECK(row(learner, 1) == std::vector<double>{0, 2});
  // Error 1 + 0.9 * max(0, 2) - 0 = 2.8, so Q(0, 0) = 1.4; then 2.8 - 1.4 = 1.4 and 2.1.
  const q_transition one{.state = 0, .action = 0, .reward = 1, .next_state = 1};
  CHECK(learner.update(one) == Approx(2.8).epsilon(1e-12));
  CHECK(learner.update(one) == Approx(1.4).epsilon(1e-12));
  CHECK(learner.values(0)[0] == Approx(2.1).epsilon(1e-12));
  CHECK(learner.values(0)[1] == 0);
  CHECK(row(learner, 2) == std::vector<double>{0, 0});
}

TEST_CASE("q_learner: nothing is expected after a terminated step") {
  q_learner learner(2, 1, {.lr = 1, .gamma = 1});
  learner.update({.state = 1, .reward = 10, .terminated = true});
  learner.update({.state = 0, .reward = 1, .terminated = true, .next_state = 1});
  CHECK(learner.values(0)[0] == 1);
  learner.update({.state = 0, .reward = 1, .terminated = false, .next_state = 1});
  CHECK(learner.values(0)[0] == 11);
}

TEST_CASE("q_learner: a corridor's values become the discounted distance from any order of steps") {
  q_learner learner(5, 2, {.lr = 0.2, .gamma = 0.9});
  action_random random(3);
  for (int i = 0; i < 20'000; ++i) {
    const auto cell = static_cast<std::int64_t>(random.below(5));
    learner.update(step_of(cell, static_cast<std::int64_t>(random.below(2))));
  }
  for (std::int64_t cell = 0; cell < 5; ++cell) {
    CHECK(learner.greedy(cell) == 1);
    CHECK(learner.values(cell)[1] == Approx(std::pow(0.9, 4 - cell)).epsilon(1e-6));
    const auto left = std::max<std::int64_t>(0, cell - 1);
    CHECK(learner.values(cell)[0] == Approx(0.9 * std::pow(0.9, 4 - left)).epsilon(1e-6));
  }
}

TEST_CASE("q_learner: epsilon falls with the transitions learned from, then stays") {
  q_learner learner(1, 1, {.epsilon_begin = 0.9, .epsilon_end = 0.1, .epsilon_steps = 4});
  std::vector<double> epsilons;
  for (int i = 0; i < 6; ++i) {
    epsilons.push_back(learner.epsilon());
    learner.update({.terminated = true});
  }
  const std::vector<double> expected{0.9, 0.7, 0.5, 0.3, 0.1, 0.1};
  for (std::size_t i = 0; i < 6; ++i) CHECK(epsilons[i] == Approx(expected[i]).epsilon(1e-12));
  CHECK(q_learner(1, 1, {.epsilon_steps = 0}).epsilon() == 0.1);
}

TEST_CASE("q_learner: a table that was given out does not change any more") {
  q_learner learner(2, 1, {.lr = 1});
  const auto before = learner.learn({{.state = 0, .reward = 1, .terminated = true}});
  const auto after = learner.learn({{.state = 0, .reward = 3, .terminated = true}});
  CHECK(*before.values == std::vector<double>{1, 0});
  CHECK(*after.values == std::vector<double>{3, 0});
  CHECK(before.version == 1);
  CHECK(after.version == 2);
}

TEST_CASE("q_learner: a restored learner goes on bit for bit") {
  const q_learning_options options{.lr = 0.3, .gamma = 0.7, .epsilon_steps = 100};
  q_learner one(5, 2, options), other(5, 2, options);
  action_random random(1);
  for (int i = 0; i < 50; ++i) one.update(step_of(static_cast<std::int64_t>(random.below(5)), 1));
  other.restore(one.save());
  CHECK(other.epsilon() == one.epsilon());
  const std::vector<q_transition> more{step_of(4, 1), step_of(3, 0), step_of(2, 1)};
  CHECK(*one.learn(more).values == *other.learn(more).values);
  CHECK(one.save() == other.save());
  CHECK_THROWS_WITH(q_learner(4, 2, options).restore(one.save()),
                    "q_learning state: values: expected 8 numbers, got 10");
}

TEST_CASE("q_learner: an impossible step is refused and teaches nothing") {
  q_learner learner(3, 2, {});
  CHECK_THROWS_WITH(learner.update({.state = 3, .terminated = true}),
                    "q_learning: state: expected 0 to 2, got 3");
  CHECK_THROWS_WITH(learner.update({.action = -1, .terminated = true}),
                    "q_learning: action: expected 0 to 1, got -1");
  CHECK_THROWS_WITH(learner.update({.next_state = 7}),
                    "q_learning: next state: expected 0 to 2, got 7");
  const auto nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_WITH(learner.update({.reward = nan, .terminated = true}),
                    "q_learning: reward: expected a finite number, got nan");
  CHECK(*learner.table().values == std::vector<double>(6, 0.0));
}

TEST_CASE("q_learner: options out of range are named") {
  CHECK_THROWS_WITH(q_learner(1, 1, {.lr = 0}),
                    "q_learning/lr: expected a number > 0 and <= 1, got 0.0");
  CHECK_THROWS_WITH(q_learner(1, 1, {.gamma = 1.5}),
                    "q_learning/gamma: expected a number >= 0 and <= 1, got 1.5");
  CHECK_THROWS_WITH(q_learner(1, 1, {.epsilon_end = -1}),
                    "q_learning/epsilon_end: expected a number >= 0 and <= 1, got -1.0");
  CHECK_THROWS_AS(q_learner(0, 2, {}), std::invalid_argument);
  CHECK_THROWS_AS(q_learner(std::int64_t{1} << 40, 1 << 30, {}), std::invalid_argument);
}

TEST_CASE(
    "checkpoint: a table and a dataset's cursor go on from the disk as if nothing had happened") {
  const checkpoint_kind kind{
      .algorithm = "q_learning", .environment = "Corridor-v0", .network = "5 states, 2 actions"};
  std::vector<std::int64_t> cells(5);
  std::iota(cells.begin(), cells.end(), 0);
  const dataset_options shuffled{.seed = 3};
  q_learner learner(5, 2, {.lr = 0.3});
  dataset<std::int64_t> starts(cells, shuffled);
  const auto learn = [](q_learner& which, dataset<std::int64_t>& from, int updates) {
    for (int i = 0; i < updates; ++i) which.update(step_of(from.next(), i % 2));
  };
  learn(learner, starts, 13);

  const temporary_folder folder;
  const checkpoint_directory checkpoints(folder.path);
  checkpoints.write({.kind = kind,
                     .step = 13,
                     .config_sha256 = {},
                     .files = {{"learner.cbor", learner.save()}, {"data.cbor", starts.save()}}});
  learn(learner, starts, 20);

  const auto from = checkpoints.load_newest(kind, nullptr);
  REQUIRE(from);
  q_learner again(5, 2, {.lr = 0.3});
  dataset<std::int64_t> same(cells, shuffled);
  again.restore(from->files.at("learner.cbor"));
  same.restore(from->files.at("data.cbor"));
  CHECK(again.save() != learner.save());
  learn(again, same, 20);
  CHECK(again.save() == learner.save());
  CHECK(same.save() == starts.save());
}
