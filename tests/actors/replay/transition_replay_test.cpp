#include "actors/replay/transition_replay.hpp"

#include <cmath>
#include <limits>

#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

using namespace testing;

transition_replay_options options(std::int64_t warm_up = 0, std::int64_t max_staleness = 0) {
  return {.widths = {.obs = 1, .choices = 1},
          .ring = {.capacity = 100},
          .warm_up = warm_up,
          .max_staleness = max_staleness};
}

collected_transitions collection(float reward, std::int64_t version = 0) {
  collected_transitions made;
  made.rows = {.obs = {0},
               .action = {},
               .choice = {1},
               .reward = {reward},
               .next_obs = {0},
               .terminated = {0},
               .discount = {1},
               .environment = {0},
               .episode = {0},
               .step = {0},
               .ended = {0}};
  made.steps = 1;
  made.version = version;
  made.episodes = {{1, reward, 3}};
  return made;
}

template <class T>
task<bool> waits(task<T> work) {
  const auto error = co_await error_of(with_timeout(std::move(work), 1s));
  co_return starts_with(error, "deadline_exceeded");
}

task<> one_update_a_collection(system&) {
  transition_replay store(options(2));
  for (int i = 0; i < 2; ++i) store.insert(collection(1));
  CHECK(co_await waits(store.sample()));
  store.insert(collection(2));
  store.insert(collection(3));
  auto due = co_await store.sample();
  REQUIRE(due.size() == 3);  // the warm-up with the first
  CHECK(due[0].rows.size() == 0);
  CHECK(due[2].episodes[0].episode_return == 2);
  due = co_await store.sample();
  CHECK(due.size() == 3);  // the same, for its answer may have been lost
  store.trained(1);
  due = co_await store.sample();
  CHECK(due.size() == 1);
  store.trained(2);
  CHECK(co_await waits(store.sample()));
  const auto drawn = store.draw({}, 50, 1);
  CHECK(drawn.size() == 50);
  CHECK(store.counts().held == 4);
  CHECK(store.counts().inserted == 4);
  CHECK(store.counts().sampled == 2);  // those of the warm-up are none
  CHECK(store.version() == 2);
}

task<> ahead_by_max_staleness(system&) {
  transition_replay store(options(0, 2));
  for (int i = 0; i < 3; ++i) CHECK(co_await store.admit());
  CHECK(co_await waits(store.admit()));
  store.trained(1);
  CHECK(co_await store.admit());
  CHECK(co_await waits(store.admit()));
  store.close();
  CHECK(!co_await store.admit());
}

task<> staleness_is_counted(system&) {
  transition_replay store(options(0, 2));
  for (int i = 0; i < 3; ++i) store.insert(collection(1, 0));  // all by the first weights
  for (std::int64_t version = 1; version <= 3; ++version) {
    co_await store.sample();
    store.trained(version);
  }
  CHECK(store.counts().sampled == 3);
  CHECK(store.counts().staleness_max == 2);
  CHECK(store.counts().staleness_mean() == 1);
}

task<> patience_ends(system&) {
  auto impatient = options(4);
  impatient.patience = 1s;
  transition_replay store(impatient);
  store.insert(collection(1));
  const auto error = co_await error_of(store.sample());
  CHECK_THAT(error, has_text("1 of 5 collections"));
}

task<> goes_on(system&) {
  transition_replay store(options(1, 1));
  for (int i = 0; i < 5; ++i) store.insert(collection(static_cast<float>(i), 0));
  co_await store.sample();
  store.trained(1);
  transition_replay back(options(1, 1));
  back.restore(store.save());
  CHECK(back.draw({}, 30, 1).reward == store.draw({}, 30, 1).reward);
  const auto one = co_await store.sample();
  const auto other = co_await back.sample();
  CHECK(other.size() == 1);
  CHECK(other[0].episodes.at(0).episode_return == one[0].episodes.at(0).episode_return);
  CHECK(other[0].episodes.at(0).length == 3);
  CHECK(back.counts().staleness_sum == store.counts().staleness_sum);
  CHECK(back.counts().inserted == 5);
  CHECK(back.version() == 1);
  CHECK(back.save() == store.save());
}

TEST_CASE("transition_replay: an update is due on each collection, the first on the warm-up too") {
  play(one_update_a_collection);
}

TEST_CASE("transition_replay: collections run ahead of updates by max_staleness") {
  play(ahead_by_max_staleness);
}

TEST_CASE("transition_replay: counts how stale the collections are that updates are due on") {
  play(staleness_is_counted);
}

TEST_CASE("transition_replay: a sample that waits too long says what is missing") {
  play(patience_ends);
}

task<> outlives_a_replica(system&) {
  auto all = options(2, 1);
  all.prioritised = priority_options{};
  all.normalize_obs = all.normalize_reward = true;
  const auto storage = std::make_shared<transition_replay::storage>();
  auto first = std::make_unique<transition_replay>(all, storage);
  transition_replay undisturbed(all);
  for (int i = 0; i < 4; ++i) {
    first->insert(collection(static_cast<float>(i)));
    undisturbed.insert(collection(static_cast<float>(i)));
  }
  auto due = co_await first->sample();
  co_await undisturbed.sample();
  CHECK_THROWS_WITH(transition_replay(all, storage),
                    has_text("transition_replay: expected storage that no other replica"));
  first.reset();
  first = std::make_unique<transition_replay>(all, storage);
  due = co_await first->sample();
  CHECK(due.size() == 3);
  const auto drawn = first->draw({}, 20, 1);
  CHECK(drawn.number == undisturbed.draw({}, 20, 1).number);
  first->trained(1);
  due = co_await first->sample();
  CHECK(due.size() == 1);
  CHECK(co_await first->admit());
  CHECK(co_await waits(first->admit()));  // one is there, another was admitted
}

task<> prioritised_draws(system&) {
  auto by_errors = options();
  by_errors.ring.capacity = 3;
  by_errors.prioritised = {.alpha = 1, .eps = 1e-9};
  transition_replay store(by_errors);
  for (int i = 0; i < 5; ++i) store.insert(collection(static_cast<float>(i)));
  store.update_priorities({2, 3, 4}, {1, 1, 8});
  const auto drawn = store.draw({}, 100, 1);
  CHECK(drawn.size() == 100);
  for (std::size_t i = 0; i < 100; ++i) {  // a reward says which it is
    CHECK(drawn.reward[i] == static_cast<float>(drawn.number[i]));
    CHECK(drawn.weight[i] == Approx(drawn.number[i] == 4 ? std::pow(8, -0.4) : 1));
  }
  CHECK(std::abs(std::ranges::count(drawn.number, 4) - 80) <= 1);
  transition_replay back(by_errors);
  back.restore(store.save());
  CHECK(back.draw({}, 100, 0.5).number == store.draw({}, 100, 0.5).number);
  co_return;
}

task<> normalised_draws(system&) {
  auto scaled = options();
  scaled.normalize_obs = scaled.normalize_reward = true;
  transition_replay store(scaled);
  auto made = collection(3);
  for (const float obs : {2.0f, 4.0f}) {
    made.rows.obs = made.rows.next_obs = {obs};
    made.discounted = {obs};
    store.insert(made);
  }
  // Of 2 and 4 the mean is 3 and the variance 1; rewards are not centred.
  CHECK(store.obs_scale()[0] == Approx(3).epsilon(1e-3));
  CHECK(store.obs_scale()[1] == Approx(1).epsilon(1e-2));
  const auto drawn = store.draw({}, 20, 1);
  for (std::size_t i = 0; i < 20; ++i) {
    CHECK(std::abs(drawn.obs[i]) == Approx(1).epsilon(1e-2));
    CHECK(drawn.next_obs[i] == drawn.obs[i]);
    CHECK(drawn.reward[i] == Approx(3).epsilon(1e-2));
  }
  made.rows.obs = {std::numeric_limits<float>::infinity()};
  store.insert(made);  // does not count
  CHECK(store.obs_scale()[0] == Approx(3).epsilon(1e-3));
  transition_replay back(scaled);
  back.restore(store.save());
  CHECK(back.obs_scale() == store.obs_scale());
  CHECK(transition_replay(options()).obs_scale().empty());
  co_return;
}

TEST_CASE("transition_replay: one that is restarted in its storage goes on") {
  play(outlives_a_replica);
}

TEST_CASE("transition_replay: prioritised draws are of what they say, also where it is full") {
  play(prioritised_draws);
}

TEST_CASE("transition_replay: keeps raw transitions, and draws normalised ones") {
  play(normalised_draws);
}

TEST_CASE("transition_replay: one that was restored goes on as the one that was saved") {
  play(goes_on);
}

}  // namespace
}  // namespace troupe
