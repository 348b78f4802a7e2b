#include "actors/replay/replay.hpp"

#include "tests/actors/replay/table/text_items.hpp"
#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

using namespace testing;
using role = replay<std::string>;
using texts = std::vector<std::string>;

replay_table_options queue_of(std::int64_t size) {
  return {.sampler = {.order = selection_order::fifo},
          .limiter = rate_limiter_options::queue(size),
          .max_times_sampled = 1};
}

task<> insert(service<role> into, std::string text, std::int64_t version = 0) {
  replay_group<std::string> group{.items = {std::move(text)}, .version = version};
  co_await into.route<&role::insert>(std::move(group));
}

task<> insert_later(service<role> into, duration pause, std::string text) {
  co_await sleep_for(pause);
  co_await insert(into, std::move(text));
}

task<texts> sample(service<role> from, sample_request request) {
  const auto samples = co_await from.route<&role::sample>(std::move(request));
  texts items;
  for (const auto& one : samples) items.push_back(one.items->front());
  co_return items;
}
task<texts> sample(service<role> from, std::int64_t count) {
  return sample(from, sample_request{.count = count, .caller = "trainer"});
}

task<> restore(service<role> to, std::string bytes) {
  co_await to.route<&role::restore>(std::move(bytes));
}

/// How it ended, and after how long.
template <class T>
task<std::pair<std::string, duration>> timed_error_of(task<T> work) {
  const auto began = detail::strand::current().now();
  auto error = co_await error_of(std::move(work));
  co_return std::pair(std::move(error), detail::strand::current().now() - began);
}

task<texts> sample_later(service<role> from, duration pause, std::int64_t count) {
  co_await sleep_for(pause);
  co_return co_await sample(from, count);
}

task<> sample_waits(system& sys) {
  auto replay = co_await sys.serve<role>({.name = "replay"}, queue_of(10));
  const auto got = co_await all(sample(replay, 2), insert_later(replay, 1s, "a"),
                                insert_later(replay, 2s, "b"), insert_later(replay, 3s, "c"));
  CHECK(std::get<0>(got) == texts{"a", "b"});
  const auto counts = co_await replay.route<&role::counts>();
  CHECK(counts.held == 1);
}

task<> insert_waits(system& sys) {
  auto replay = co_await sys.serve<role>({.name = "replay"}, queue_of(2));
  co_await insert(replay, "a");
  co_await insert(replay, "b");
  const auto waited =
      co_await all(timed_error_of(insert(replay, "c")), sample_later(replay, 5s, 2));
  CHECK(std::get<0>(waited).first == "none");
  CHECK(std::get<0>(waited).second >= 5s);
  CHECK(std::get<1>(waited) == texts{"a", "b"});
  const auto last = co_await sample(replay, 1);
  CHECK(last == texts{"c"});
}

task<> share(system& sys) {
  auto replay = co_await sys.serve<role>({.name = "replay"}, queue_of(3));
  std::vector<task<>> sources;
  for (int i = 0; i < 12; ++i) sources.push_back(insert_later(replay, 1s, std::to_string(10 + i)));
  std::vector<task<texts>> sinks;
  for (int i = 0; i < 6; ++i) sinks.push_back(sample(replay, 2));
  const auto got = co_await all(all(std::move(sinks)), all(std::move(sources)));
  texts seen;
  for (const auto& part : std::get<0>(got)) {
    CHECK(part.size() == 2);
    seen.insert(seen.end(), part.begin(), part.end());
  }
  std::sort(seen.begin(), seen.end());
  texts each;
  for (int i = 0; i < 12; ++i) each.push_back(std::to_string(10 + i));
  CHECK(seen == each);
}

task<> too_few(system& sys) {
  auto replay =
      co_await sys.serve<role>({.name = "replay"}, queue_of(4), replay_waiting{.patience = 60s});
  co_await insert(replay, "a", 7);
  sample_request request{.count = 3, .caller = "trainer 2", .version = 7};
  const auto starved = co_await timed_error_of(sample(replay, request));
  CHECK(starved.second < 61s);
  CHECK_THAT(starved.first,
             has_text("replay: trainer 2 waited 60 s for a sample of 3 for weights of version 7: "
                      "too few entries: 1 are held, min_size_to_sample is 1, 1 samples are left of "
                      "max_times_sampled 1; 1 have come, 0 were too stale (0 inserts wait)"));
  const auto got = co_await sample(replay, 1);
  CHECK(got == texts{"a"});  // the service goes on, and nothing was lost
}

task<> all_too_stale(system& sys) {
  auto options = queue_of(4);
  options.max_staleness = 1;
  auto replay =
      co_await sys.serve<role>({.name = "replay"}, options, replay_waiting{.patience = 60s});
  co_await insert(replay, "a", 3);
  co_await insert(replay, "b", 2);
  sample_request request{.count = 1, .caller = "trainer", .version = 5};
  const auto starved = co_await error_of(sample(replay, request));
  CHECK_THAT(starved,
             has_text("trainer waited 60 s for a sample of 1 for weights of version 5: all "
                      "too stale: none of the 2 entries since the last sample was of "
                      "version 4 or later (max_staleness 1)"));
}

task<> limited(system& sys) {
  const replay_table_options options{
      .limiter = rate_limiter_options::sample_to_insert_ratio(1, /*min_size=*/2, 1)};
  auto replay =
      co_await sys.serve<role>({.name = "replay"}, options, replay_waiting{.patience = 60s});
  co_await insert(replay, "a");
  co_await insert(replay, "b");  // diff = 2
  co_await sample(replay, 1);    // diff = 1
  const auto starved = co_await error_of(sample(replay, 1));
  CHECK_THAT(starved, has_text("the rate limiter waits for inserts: 2 inserts * 1"));
  // An insert at the last moment is in time.
  const auto got = co_await all(sample(replay, 1), insert_later(replay, 59s, "c"));
  CHECK(std::get<0>(got).size() == 1);
}

task<> patience_is_one(system& sys) {
  auto replay =
      co_await sys.serve<role>({.name = "replay"}, queue_of(4), replay_waiting{.patience = 60s});
  // Every 25 s an entry comes and another takes it: the one that wants two waits 60 s in all.
  std::vector<task<>> others;
  for (int i = 1; i < 5; ++i) others.push_back(insert_later(replay, i * 25s, "a"));
  std::vector<task<texts>> greedy;
  for (int i = 0; i < 2; ++i) greedy.push_back(sample(replay, 1));
  const auto got = co_await all(all(std::move(greedy)), timed_error_of(sample(replay, 2)),
                                all(std::move(others)));
  CHECK_THAT(std::get<1>(got).first, has_text("waited 60 s"));
  CHECK(std::get<1>(got).second < 61s);
}

task<> impossible(system& sys) {
  auto replay = co_await sys.serve<role>({.name = "replay"}, queue_of(4));
  const auto refused = co_await timed_error_of(sample(replay, 5));
  CHECK_THAT(refused.first, has_text("than fit between the rate limiter's bounds, got 5"));
  CHECK(refused.second < 1s);
}

task<> too_many_wait(system& sys) {
  auto replay =
      co_await sys.serve<role>({.name = "replay"}, queue_of(1), replay_waiting{.max_waiting = 2});
  std::vector<task<std::string>> inserts;
  for (int i = 0; i < 4; ++i) inserts.push_back(error_of(insert(replay, "a")));
  const auto got = co_await all(all(std::move(inserts)), sample_later(replay, 1s, 1),
                                sample_later(replay, 2s, 1), sample_later(replay, 3s, 1));
  const auto& ends = std::get<0>(got);
  CHECK(std::ranges::count(ends, "none") == 3);  // one had room, two waited
  const auto refused = [](const std::string& end) {
    return end.find("overloaded: replay: insert: 2 wait already (max_waiting 2)") != end.npos;
  };
  CHECK(std::ranges::count_if(ends, refused) == 1);
  // Their places are free again.
  const auto again = co_await all(insert(replay, "b"), insert(replay, "c"), insert(replay, "d"),
                                  sample_later(replay, 1s, 1), sample_later(replay, 2s, 1));
  CHECK(std::get<4>(again).size() == 1);
}

task<> priorities(system& sys) {
  const replay_table_options options{.sampler = {.order = selection_order::max_heap}};
  auto replay = co_await sys.serve<role>({.name = "replay"}, options);
  for (const auto* text : {"a", "b"}) co_await insert(replay, text);
  sample_request request{};
  auto samples = co_await replay.route<&role::sample>(request);
  CHECK(samples[0].items->front() == "a");
  std::vector<priority_update> updates{{samples[0].info.key, 0.5}, {12345, 1}};
  const auto found = co_await replay.route<&role::update_priorities>(std::move(updates));
  CHECK(found == 1);
  samples = co_await replay.route<&role::sample>(request);
  CHECK(samples[0].items->front() == "b");
}

task<> checkpoint(system& sys) {
  const replay_table_options options{.limiter = rate_limiter_options::min_size(2), .seed = 3};
  auto first = co_await sys.serve<role>({.name = "first"}, options, replay_waiting{}, text_codec());
  for (const auto* text : {"a", "b", "c"}) co_await insert(first, text);
  co_await sample(first, 5);
  const auto bytes = co_await first.route<&role::save>();
  auto second =
      co_await sys.serve<role>({.name = "second"}, options, replay_waiting{}, text_codec());
  // One that waits goes on with what is restored.
  const auto got = co_await all(sample(second, 8), restore(second, bytes));
  const auto same = co_await sample(first, 8);
  CHECK(std::get<0>(got) == same);
  const auto saved_first = co_await first.route<&role::save>();
  const auto saved_second = co_await second.route<&role::save>();
  CHECK(saved_first == saved_second);
  const auto refused = co_await error_of(restore(second, "nonsense"));
  CHECK_THAT(refused, has_text("saved state"));
}

}  // namespace

TEST_CASE("replay: a sample waits for its entries") { play(sample_waits); }

TEST_CASE("replay: an insert waits while the rate limiter forbids it") { play(insert_waits); }

TEST_CASE("replay: samples and inserts at the same time lose nothing and give nothing twice") {
  for (std::uint64_t seed = 0; seed < 30; ++seed) play(share, seed);
}

TEST_CASE("replay: a sample that waits in vain says who waited for what: too few entries") {
  play(too_few);
}

TEST_CASE("replay: a sample that waits in vain says who waited for what: all too stale") {
  play(all_too_stale);
}

TEST_CASE("replay: a sample that waits in vain says who waited for what: the rate limiter") {
  play(limited);
}

TEST_CASE("replay: patience is not renewed by what others took") { play(patience_is_one); }

TEST_CASE("replay: a sample that can never be had is refused at once") { play(impossible); }

TEST_CASE("replay: no more wait than max_waiting, and a place is free again afterwards") {
  play(too_many_wait);
}

TEST_CASE("replay: priorities are updated where the entry is still there") { play(priorities); }

TEST_CASE("replay: a restored one samples on as the saved one") { play(checkpoint); }

}  // namespace troupe
