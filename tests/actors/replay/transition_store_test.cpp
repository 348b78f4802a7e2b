#include "actors/replay/transition_store.hpp"

#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

using namespace testing;

transition_store_options options(std::int64_t warm_up = 0, std::int64_t max_staleness = 0) {
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
               .discount = {1}};
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
  transition_store store(options(2));
  for (int i = 0; i < 2; ++i) store.insert(collection(1));
  CHECK(co_await waits(store.sample()));
  store.insert(collection(2));
  store.insert(collection(3));
  auto due = co_await store.sample();
  CHECK(due.size() == 3);  // the warm-up with the first
  CHECK(due[0].rows.size() == 0);
  CHECK(due[2].episodes[0].episode_return == 2);
  due = co_await store.sample();
  CHECK(due.size() == 1);
  CHECK(co_await waits(store.sample()));
  const auto drawn = store.draw({}, 50);
  CHECK(drawn.size() == 50);
  CHECK(store.counts().held == 4);
}

task<> ahead_by_max_staleness(system&) {
  transition_store store(options(0, 2));
  for (int i = 0; i < 3; ++i) CHECK(co_await store.admit());
  CHECK(co_await waits(store.admit()));
  store.trained(1);
  CHECK(co_await store.admit());
  CHECK(co_await waits(store.admit()));
  store.close();
  CHECK(!co_await store.admit());
}

task<> patience_ends(system&) {
  auto impatient = options(4);
  impatient.patience = 1s;
  transition_store store(impatient);
  store.insert(collection(1));
  const auto error = co_await error_of(store.sample());
  CHECK_THAT(error, has_text("1 of 5 collections"));
}

task<> goes_on(system&) {
  transition_store store(options(1, 1));
  for (int i = 0; i < 5; ++i) store.insert(collection(static_cast<float>(i), 0));
  co_await store.sample();
  store.trained(1);
  transition_store back(options(1, 1));
  back.restore(store.save());
  CHECK(back.draw({}, 30).reward == store.draw({}, 30).reward);
  const auto one = co_await store.sample();
  const auto other = co_await back.sample();
  CHECK(other.size() == 1);
  CHECK(other[0].episodes.at(0).episode_return == one[0].episodes.at(0).episode_return);
  CHECK(other[0].episodes.at(0).length == 3);
  CHECK(back.counts().staleness_sum == store.counts().staleness_sum);
  CHECK(back.save() == store.save());
}

TEST_CASE("transition_store: an update is due on each collection, the first on the warm-up too") {
  play(one_update_a_collection);
}

TEST_CASE("transition_store: collections run ahead of updates by max_staleness") {
  play(ahead_by_max_staleness);
}

TEST_CASE("transition_store: a sample that waits too long says what is missing") {
  play(patience_ends);
}

TEST_CASE("transition_store: one that was restored goes on as the one that was saved") {
  play(goes_on);
}

}  // namespace
}  // namespace troupe
