#include "actors/replay/replay_table.hpp"

#include <cmath>
#include <set>

#include "tests/actors/replay/table/text_items.hpp"
#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

using testing::has_text;
using table = replay_table<std::string>;
using texts = std::vector<std::string>;

/// A queue: first in first out, each once.
replay_table_options queue_of(std::int64_t size) {
  return {.sampler = {.order = selection_order::fifo},
          .limiter = rate_limiter_options::queue(size),
          .max_times_sampled = 1};
}

texts first_items(const std::vector<replay_sample<std::string>>& samples) {
  texts items;
  for (const auto& sample : samples) items.push_back(sample.items->front());
  return items;
}

}  // namespace

TEST_CASE("replay_table: a queue gives each entry once, first come first") {
  table queue(queue_of(3));
  for (const auto* text : {"a", "b", "c"}) queue.insert({.items = {text}});
  CHECK_FALSE(queue.may_insert());
  CHECK_THROWS_AS(queue.insert({.items = {"d"}}), std::logic_error);
  CHECK(first_items(queue.sample(2)) == texts{"a", "b"});
  CHECK(queue.may_insert());
  CHECK_FALSE(queue.may_sample(2));
  CHECK_THROWS_AS(queue.sample(2), std::logic_error);
  CHECK(first_items(queue.sample(1)) == texts{"c"});
  CHECK(queue.counts().used_up == 3);
  CHECK(queue.counts().held == 0);
}

TEST_CASE("replay_table: every seed draws samples of its own") {
  constexpr auto high = std::uint64_t{1} << 63;
  std::set<texts> drawn;
  for (const std::uint64_t seed : {std::uint64_t{1}, std::uint64_t{2}, high + 1, high + 2}) {
    table uniform({.seed = seed});
    for (int i = 0; i < 50; ++i) uniform.insert({.items = {std::to_string(i)}});
    drawn.insert(first_items(uniform.sample(20)));
  }
  CHECK(drawn.size() == 4);
}

TEST_CASE("replay_table: a stack gives what came last") {
  auto options = queue_of(3);
  options.sampler.order = selection_order::lifo;
  table stack(options);
  for (const auto* text : {"a", "b", "c"}) stack.insert({.items = {text}});
  CHECK(first_items(stack.sample(2)) == texts{"c", "b"});
  stack.insert({.items = {"d"}});
  CHECK(first_items(stack.sample(2)) == texts{"d", "a"});
}

TEST_CASE("replay_table: says of a sample all that importance weights need") {
  table prioritised({.sampler = {.order = selection_order::prioritised, .exponent = 1}});
  const auto light = prioritised.insert({.items = {"light"}, .priority = 0, .version = 3});
  const auto heavy = prioritised.insert({.items = {"heavy"}, .priority = 2.5, .version = 4});
  REQUIRE(heavy);
  auto got = prioritised.sample(2);
  CHECK(got[0].info.key == *heavy);
  CHECK(got[0].info.probability == 1);
  CHECK(got[0].info.table_size == 2);
  CHECK(got[0].info.priority == 2.5);
  CHECK(got[0].info.times_sampled == 1);
  CHECK(got[0].info.version == 4);
  CHECK(got[1].info.times_sampled == 2);
  CHECK(got[1].items == got[0].items);  // shared, not copied

  const std::vector<priority_update> updates{{*light, 7.5}, {*heavy, 2.5}, {999, 1}};
  CHECK(prioritised.update_priorities(updates) == 2);  // 999 is not there any more
  got = prioritised.sample(1);
  CHECK(got[0].info.probability == Approx(got[0].info.key == *light ? 0.75 : 0.25));
}

TEST_CASE("replay_table: a new entry gets the highest priority seen, 1 before any") {
  table prioritised({.sampler = {.order = selection_order::max_heap}});
  const auto first = prioritised.insert({.items = {"a"}});
  CHECK(prioritised.sample(1)[0].info.priority == 1);
  const std::vector<priority_update> high{{*first, 6}}, low{{*first, 0.5}};
  prioritised.update_priorities(high);
  prioritised.update_priorities(low);
  prioritised.insert({.items = {"b"}});
  CHECK(prioritised.sample(1)[0].info.priority == 6);
}

TEST_CASE("replay_table: a priority that is none changes nothing") {
  table prioritised({.sampler = {.order = selection_order::prioritised}});
  const auto key = prioritised.insert({.items = {"a"}, .priority = 1});
  const std::vector<priority_update> updates{{*key, 5}, {*key, std::nan("")}};
  CHECK_THROWS_AS(prioritised.update_priorities(updates), std::invalid_argument);
  CHECK_THROWS_WITH(prioritised.insert({.items = {"b"}, .priority = -1}),
                    "replay: priority: expected a finite number >= 0, got -1");
  CHECK(prioritised.counts().held == 1);
  CHECK(prioritised.sample(1)[0].info.priority == 1);
}

TEST_CASE("replay_table: the remover makes room, in items and in bytes") {
  table items({.sampler = {.order = selection_order::fifo}, .max_items = 3});
  for (const auto* text : {"a", "b", "c", "d"}) items.insert({.items = {text}});
  CHECK(items.counts().held == 3);
  CHECK(items.counts().evicted == 1);
  CHECK(first_items(items.sample(1)) == texts{"b"});
  items.insert({.items = {"e", "f"}});  // two at once push two out
  CHECK(first_items(items.sample(1)) == texts{"d"});
  CHECK(items.counts().items == 3);

  table bytes({.sampler = {.order = selection_order::max_heap},
               .remover = {.order = selection_order::min_heap},
               .max_bytes = 10},
              text_codec());
  bytes.insert({.items = {"12345"}, .priority = 1});
  bytes.insert({.items = {"123"}, .priority = 3});
  bytes.insert({.items = {"12"}, .priority = 2});
  CHECK(bytes.counts().bytes == 10);
  bytes.insert({.items = {"1"}, .priority = 1});  // the lowest priority of those before it goes
  CHECK(bytes.counts().bytes == 6);
  CHECK(bytes.counts().held == 3);
}

TEST_CASE("replay_table: refuses an entry that never fits, and keeps the others") {
  table small({.max_items = 2, .max_bytes = 10}, text_codec());
  small.insert({.items = {"a"}});
  CHECK_THROWS_WITH(small.insert({.items = {"a", "b", "c"}}),
                    has_text("at most max_items (2), got 3"));
  CHECK_THROWS_WITH(small.insert({.items = {"12345678901"}}),
                    has_text("at most max_bytes (10), got 11"));
  CHECK_THROWS_WITH(small.insert({}), has_text("items of an entry: expected a number >= 1, got 0"));
  CHECK(small.counts().held == 1);
}

TEST_CASE("replay_table: what is too stale goes, wherever it stands, and is no more sampled") {
  auto options = queue_of(4);
  options.max_staleness = 1;
  table queue(options);
  queue.insert({.items = {"new"}, .version = 2});
  queue.insert({.items = {"old"}, .version = 0});
  queue.insert({.items = {"middle"}, .version = 1});
  queue.advance(2);
  CHECK(queue.counts().stale == 1);
  CHECK_FALSE(queue.insert({.items = {"late"}, .version = 0}));  // on arrival
  CHECK(queue.counts().stale == 2);
  queue.advance(1);  // versions don't go back
  CHECK(queue.counts().version == 2);
  CHECK(first_items(queue.sample(2)) == texts{"new", "middle"});
  CHECK(queue.counts().staleness_max == 1);
  CHECK(queue.counts().staleness_mean() == 0.5);
}

TEST_CASE("replay_table: a queue whose entries go stale takes as many new ones") {
  auto options = queue_of(4);
  options.max_staleness = 0;
  table queue(options);
  for (std::int64_t version = 0; version < 20; ++version) {
    queue.advance(version);
    for (int i = 0; i < 4; ++i) {
      REQUIRE(queue.may_insert());
      queue.insert({.items = {"a"}, .version = version});
    }
    REQUIRE_FALSE(queue.may_insert());
    REQUIRE(queue.may_sample(4));
  }
  CHECK(queue.counts().stale == 19 * 4);
}

TEST_CASE("replay_table: says why a sample can't be had") {
  auto options = queue_of(4);
  options.max_staleness = 2;
  table queue(options);
  CHECK_THAT(queue.shortage(1), has_text("too few entries: 0 are held, min_size_to_sample is 1"));
  queue.insert({.items = {"a"}});
  CHECK_THAT(queue.shortage(2), has_text("1 samples are left of max_times_sampled 1; 1 have come"));
  CHECK(queue.shortage(1) == "nothing is short");
  queue.advance(3);
  CHECK_THAT(queue.shortage(1),
             has_text("all too stale: none of the 1 entries since the last sample was of version 1 "
                      "or later (max_staleness 2)"));
  table ratio({.limiter = rate_limiter_options::sample_to_insert_ratio(1, 2, 1)});  // 1 .. 3
  ratio.insert({.items = {"a"}});
  ratio.insert({.items = {"b"}});
  ratio.sample(1);  // diff = 1
  CHECK_THAT(ratio.shortage(1), has_text("the rate limiter waits for inserts: 2 inserts * 1 "
                                         "samples_per_insert - 1 samples = 1, min_diff 1"));
}

TEST_CASE("replay_table: refuses a sample that no waiting can bring") {
  const table queue(queue_of(4));
  CHECK_NOTHROW(queue.check_sample(4));
  CHECK_THROWS_WITH(queue.check_sample(5), has_text("than fit between the rate limiter's bounds"));
  CHECK_THROWS_WITH(queue.check_sample(0), "replay: sample: expected at least 1 entry, got 0");
  const table twice({.max_items = 3, .max_times_sampled = 2});
  CHECK_NOTHROW(twice.check_sample(6));
  CHECK_THROWS_WITH(twice.check_sample(7), has_text("max_items * max_times_sampled (3 * 2)"));
}

TEST_CASE("replay_table: refuses options that can't be") {
  CHECK_THROWS_WITH(table({.max_items = 0}), has_text("max_items: expected a number >= 1"));
  CHECK_THROWS_WITH(table({.max_bytes = 0}), has_text("max_bytes"));
  CHECK_THROWS_WITH(table({.max_times_sampled = -1}), has_text("max_times_sampled"));
  CHECK_THROWS_WITH(table({.max_staleness = -1}), has_text("max_staleness"));
  CHECK_THROWS_WITH(table({.limiter = rate_limiter_options::min_size(5), .max_items = 4}),
                    has_text("max_items: expected at least min_size_to_sample (5), got 4"));
}

}  // namespace troupe
