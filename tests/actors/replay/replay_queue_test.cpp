#include "actors/replay/replay_queue.hpp"

#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

using namespace testing;

struct item {
  int number = 0;
  std::int64_t version = 0;
};
struct long_item {
  std::int64_t version = 0;
  double tokens = 0;
  double length() const { return tokens; }
};
using queue = replay_queue<item>;
using numbers = std::vector<int>;

task<> insert(queue& replay, item what) { co_await replay.insert(what); }

task<> insert_later(queue& replay, duration pause, int number) {
  co_await sleep_for(pause);
  co_await replay.insert(item{number, 0});
}

task<numbers> sample(queue& replay) {
  numbers found;
  auto items = co_await replay.sample();
  for (const auto& i : items) found.push_back(i.number);
  co_return found;
}

task<> admit(queue& replay) { co_await replay.admit(); }

/// Whether it is still under way after a second.
template <class T>
task<bool> waits(task<T> work) {
  const auto error = co_await error_of(with_timeout(std::move(work), 1s));
  co_return starts_with(error, "deadline_exceeded");
}

task<> sample_waits(system&) {
  queue replay({.batch = 2});
  const auto got = co_await all(sample(replay), insert_later(replay, 1s, 1),
                                insert_later(replay, 2s, 2), insert_later(replay, 3s, 3));
  CHECK(std::get<0>(got) == numbers{1, 2});
  const auto counts = replay.counts();
  CHECK(counts.held == 1);
  CHECK(counts.inserted == 3);
  CHECK(counts.sampled == 2);
  CHECK(counts.stale == 0);
  CHECK(counts.repeated == 0);
}

task<> take_what_is_there(system&) {
  queue replay({.batch = 2});
  CHECK(replay.sample_size() == 2);
  CHECK(replay.missing() == 2);
  co_await insert(replay, {1, 0});
  CHECK(replay.missing() == 1);
  CHECK(replay.take().empty());
  CHECK(replay.counts().held == 1);
  co_await insert(replay, {2, 0});
  co_await insert(replay, {3, 0});
  CHECK(replay.missing() == 0);
  const auto taken = replay.take();
  REQUIRE(taken.size() == 2);
  CHECK(taken[0].number == 1);
  CHECK(replay.counts().sampled == 2);
}

/// A replay that was restarted hears of the weights' version by what comes.
task<> hear_version(system&) {
  queue replay({.batch = 1, .max_staleness = 1});
  co_await insert(replay, {1, 5});
  co_await insert(replay, {2, 3});  // two versions behind
  CHECK(replay.counts().held == 1);
  CHECK(replay.counts().stale == 1);
  replay.take();
  CHECK(replay.counts().staleness_sum == 0);
}

task<> samples_share(system&) {
  queue replay({.batch = 2});
  std::vector<task<>> sources;
  for (int i = 0; i < 6; ++i) sources.push_back(insert_later(replay, 1s, i));
  const auto got =
      co_await all(sample(replay), sample(replay), sample(replay), all(std::move(sources)));
  auto seen = std::get<0>(got);
  for (const auto& more : {std::get<1>(got), std::get<2>(got)}) {
    CHECK(more.size() == 2);
    seen.insert(seen.end(), more.begin(), more.end());
  }
  std::sort(seen.begin(), seen.end());
  CHECK(seen == numbers{0, 1, 2, 3, 4, 5});
}

task<> full_queue(system&) {
  queue replay({.batch = 2, .capacity = 2});
  co_await insert(replay, {1, 0});
  co_await insert(replay, {2, 0});
  const bool third_waits = co_await waits(insert(replay, {3, 0}));
  CHECK(third_waits);
  auto counts = replay.counts();
  CHECK(counts.held == 2);
  const auto both = co_await all(insert(replay, {4, 0}), sample(replay));
  CHECK(std::get<1>(both) == numbers{1, 2});
  counts = replay.counts();
  CHECK(counts.held == 1);
}

task<> admissions(system&) {
  queue replay({.batch = 2, .max_staleness = 1});
  for (int i = 0; i < 4; ++i) co_await admit(replay);
  bool waiting = co_await waits(admit(replay));
  CHECK(waiting);
  replay.abandon();  // one of the four will not come
  co_await admit(replay);
  waiting = co_await waits(admit(replay));
  CHECK(waiting);
  replay.trained(1);
  for (int i = 0; i < 2; ++i) co_await admit(replay);
  waiting = co_await waits(admit(replay));
  CHECK(waiting);
}

task<> restarted(system&) {
  queue replay(replay_options{});
  replay.trained(10);
  co_await admit(replay);
  const bool waiting = co_await waits(admit(replay));
  CHECK(waiting);
}

task<> stale_items(system&) {
  queue replay({.batch = 2, .max_staleness = 1});
  for (int i = 0; i < 4; ++i) co_await admit(replay);
  // The second is older than the first: it was overtaken.
  for (const item i : {item{1, 2}, item{2, 0}, item{3, 1}, item{4, 2}}) co_await insert(replay, i);
  replay.trained(2);
  const auto got = co_await sample(replay);
  CHECK(got == numbers{1, 3});
  const auto counts = replay.counts();
  CHECK(counts.stale == 1);
  CHECK(counts.held == 1);
  CHECK(counts.staleness_max == 1);
  CHECK(counts.staleness_mean() == 0.5);
}

task<> stale_while_held(system&) {
  queue replay({.max_staleness = 1});
  for (const item i : {item{1, 0}, item{2, 1}}) co_await insert(replay, i);
  CHECK(replay.counts().held == 2);
  replay.trained(2);
  CHECK(replay.counts().stale == 1);
  const auto got = co_await sample(replay);
  CHECK(got == numbers{2});
  CHECK(replay.counts().staleness_max == 1);
}

/// The first of two that begin together comes when the other, and one more, have been trained on.
task<> stale_place(system&) {
  queue replay({.batch = 1, .max_staleness = 1});
  for (int i = 0; i < 2; ++i) co_await admit(replay);
  co_await insert(replay, {2, 0});
  co_await sample(replay);
  replay.trained(1);
  co_await admit(replay);
  co_await insert(replay, {3, 1});
  co_await sample(replay);
  replay.trained(2);
  co_await insert(replay, {1, 0});
  CHECK(replay.counts().stale == 1);
  for (int i = 0; i < 2; ++i) co_await with_timeout(admit(replay), 1s);  // its place, and the next
  const bool third_waits = co_await waits(admit(replay));
  CHECK(third_waits);
}

task<> stale_on_arrival(system&) {
  queue replay({.patience = 60s});
  replay.trained(3);
  co_await insert(replay, {1, 2});
  auto error = co_await error_of(sample(replay));
  CHECK_THAT(error, has_text("0 are held, 1 have come, 1 were too stale"));
  // The same while a sample waits for it.
  error = co_await error_of(all(sample(replay), insert_later(replay, 1s, 4)));
  CHECK_THAT(error, has_text("0 are held, 2 have come, 2 were too stale"));
  co_await insert(replay, {2, 3});
  const auto got = co_await sample(replay);
  CHECK(got == numbers{2});
}

task<> starve(system&) {
  queue replay({.batch = 3, .max_staleness = 2, .patience = 60s});
  replay.trained(4);
  co_await insert(replay, {1, 4});
  const auto error = co_await error_of(with_timeout(sample(replay), 59s));
  CHECK_THAT(error, has_text("deadline_exceeded"));  // it was still waiting
  const auto starved = co_await error_of(sample(replay));
  CHECK_THAT(starved, has_text("replay: a sample of 3 items for weights of version 4 waited"));
  CHECK_THAT(starved, has_text("1 are held, 1 have come, 0 were too stale (max_staleness 2)"));
  std::vector<task<>> rest;
  for (int i = 2; i < 4; ++i) rest.push_back(insert(replay, {i, 4}));
  co_await all(std::move(rest));
  const auto got = co_await sample(replay);
  CHECK(got.size() == 3);  // the service goes on
}

}  // namespace

TEST_CASE("replay_queue: a sample waits for its items and takes the first that came") {
  play(sample_waits);
}

TEST_CASE("replay_queue: samples at the same time get a whole batch each, and no item twice") {
  for (std::uint64_t seed = 0; seed < 30; ++seed) play(samples_share, seed);
}

TEST_CASE("replay_queue: an insert waits while the queue is full") { play(full_queue); }

TEST_CASE("replay_queue: admits what will be fresh enough, and an abandoned place is free") {
  play(admissions);
}

TEST_CASE(
    "replay_queue: one that starts at a later version admits no more than one that was there") {
  play(restarted);
}

TEST_CASE("replay_queue: an item too stale is dropped wherever it stands") { play(stale_items); }

TEST_CASE("replay_queue: an item that becomes too stale while it is held is never sampled") {
  play(stale_while_held);
}

TEST_CASE("replay_queue: the place of an item that was dropped as stale is free") {
  play(stale_place);
}

TEST_CASE("replay_queue: an item that is too stale when it comes is never sampled") {
  play(stale_on_arrival);
}

TEST_CASE("replay_queue: a sample that waits in vain fails once its patience has passed") {
  play(starve);
}

TEST_CASE("replay_queue: take gives a sample if there is one, and waits for none") {
  play(take_what_is_there);
}

/// Items of 10 and of 30 are dropped, of 5 is not.
task<> count_lengths(system&) {
  replay_queue<long_item> replay({.batch = 1, .max_staleness = 0, .capacity = 8});
  for (const double length : {10.0, 30.0}) {
    long_item old{0, length};
    co_await replay.insert(old);
  }
  replay.trained(1);
  long_item fresh{1, 5};
  co_await replay.insert(fresh);
  CHECK(replay.counts().stale == 2);
  CHECK(replay.counts().stale_length_mean() == 20);
  CHECK(replay.counts().held == 1);
}

TEST_CASE("replay_queue: counts how long the items were that were too stale") {
  play(count_lengths);
}

TEST_CASE("replay_queue: an item tells which weights are in use") { play(hear_version); }

TEST_CASE("replay_queue: one that is restarted has what is in its storage, and has it alone") {
  const auto storage = std::make_shared<queue::storage>();
  auto first = std::make_unique<queue>(replay_options{}, storage);
  first->restore({.items = {item{}}, .begun = 1, .version = 0, .counts = {}});
  CHECK_THROWS_WITH(queue({}, storage), has_text("replay: expected storage that no other replica"));
  first.reset();
  CHECK(queue({}, storage).counts().held == 1);
}

TEST_CASE("replay_queue: expects room for one sample") {
  CHECK_THROWS_WITH(queue({.batch = 3, .capacity = 2}),
                    "replay: capacity: expected at least batch (3), got 2");
}

}  // namespace troupe
