#include "tests/actors/replay/table/text_items.hpp"
#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

using testing::has_text;
using table = replay_table<std::string>;
using texts = std::vector<std::string>;

constexpr selection_order all_orders[] = {selection_order::uniform,  selection_order::prioritised,
                                          selection_order::fifo,     selection_order::lifo,
                                          selection_order::min_heap, selection_order::max_heap};

/// A table that has seen something of everything.
table used_table(const replay_table_options& options) {
  table used(options, text_codec());
  for (int i = 0; i < 40; ++i) {
    used.insert({.items = texts(static_cast<std::size_t>(1 + i % 3), std::to_string(i)),
                 .priority = i % 7,
                 .version = i / 4});
    if (i < 5) continue;
    for (const auto& sample : used.sample(1)) {
      const std::vector<priority_update> update{{sample.info.key, (i % 5) / 2.0}};
      used.update_priorities(update);
    }
    if (i % 10 == 9) used.advance(i / 4);
  }
  return used;
}

void play_on(table& on, std::vector<sample_info>& seen, texts& items) {
  for (int i = 0; i < 30; ++i) {
    on.insert({.items = {std::to_string(100 + i)}, .version = 9 + i / 10});
    for (const auto& sample : on.sample(2)) {
      seen.push_back(sample.info);
      items.insert(items.end(), sample.items->begin(), sample.items->end());
    }
    if (i % 10 == 5) on.advance(9 + i / 10);
  }
}

/// A saved state with one value replaced.
std::string damaged(const table& of, std::string_view name, std::vector<std::int64_t> value) {
  state_writer to;
  of.save(to);
  to.put(name, value);
  return to.bytes();
}

}  // namespace

TEST_CASE("replay_table: a restored one goes on exactly as the saved one") {
  for (const auto sampler : all_orders) {
    for (const auto remover :
         {selection_order::fifo, selection_order::uniform, selection_order::min_heap}) {
      const replay_table_options options{.sampler = {.order = sampler},
                                         .remover = {.order = remover},
                                         .limiter = rate_limiter_options::min_size(4),
                                         .max_items = 30,
                                         .max_times_sampled = 20,
                                         .max_staleness = 8,
                                         .seed = 5};
      auto before = used_table(options);
      const auto bytes = saved(before);
      auto other_seed = options;
      other_seed.seed = 6;  // it is the saved generators that count
      table after(other_seed, text_codec());
      after.restore(state_reader(bytes));
      CHECK(saved(after) == bytes);
      std::vector<sample_info> seen_before, seen_after;
      texts items_before, items_after;
      play_on(before, seen_before, items_before);
      play_on(after, seen_after, items_after);
      REQUIRE(seen_before.size() == seen_after.size());
      for (std::size_t i = 0; i < seen_before.size(); ++i) {
        REQUIRE(seen_before[i].key == seen_after[i].key);
        REQUIRE(seen_before[i].probability == seen_after[i].probability);
        REQUIRE(seen_before[i].times_sampled == seen_after[i].times_sampled);
      }
      CHECK(items_before == items_after);
      CHECK(saved(after) == saved(before));
    }
  }
}

TEST_CASE("replay_table: restored under smaller bounds it lets go what does not fit") {
  const auto before = used_table({.max_items = 30});
  table after({.remover = {.order = selection_order::fifo},
               .limiter = rate_limiter_options::queue(100),
               .max_items = 10,
               .max_times_sampled = 3,
               .max_staleness = 2},
              text_codec());
  after.restore(state_reader(saved(before)));
  const auto counts = after.counts();
  CHECK(counts.items <= 10);
  CHECK(counts.held > 0);
  CHECK(counts.version == 9);
  for (const auto& sample : after.sample(counts.held)) {
    CHECK(sample.info.version >= 7);
    CHECK(sample.info.times_sampled <= 3);
    CHECK_FALSE(sample.items->empty());
  }
}

TEST_CASE("replay_table: a state that contradicts itself is refused and changes nothing") {
  auto kept = used_table({.max_items = 30});
  const auto before = saved(kept);
  const auto keys = state_reader(before).get<std::vector<std::int64_t>>("keys");
  auto twice = keys;
  twice.back() = twice.front();
  auto fewer = keys;
  fewer.pop_back();
  const auto refused = [&](std::string_view name, const std::vector<std::int64_t>& value) {
    INFO(name);
    CHECK_THROWS_AS(kept.restore(state_reader(damaged(kept, name, value))), state_error);
    CHECK(saved(kept) == before);
  };
  refused("keys", twice);
  refused("keys", fewer);
  refused("sampler_keys", twice);
  refused("sampler_keys", fewer);
  refused("remover_keys", fewer);
  refused("items", std::vector<std::int64_t>(keys.size(), 1));
  refused("items", std::vector<std::int64_t>(keys.size(), 0));
  refused("priorities", std::vector<std::int64_t>(keys.size(), -1));  // the bits of a NaN
  refused("counts", {1, 2});
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  constexpr auto half = most / 2 + 1;
  for (const auto* name : {"items", "bytes", "times_sampled"}) {
    for (const auto number : {most, half, most / 4, std::int64_t{-1}})
      refused(name, std::vector<std::int64_t>(keys.size(), number));
  }
  for (const auto number : {most, -most - 1, -most / 2 - 2}) {
    refused("versions", std::vector<std::int64_t>(keys.size(), number));
    refused("counts", std::vector<std::int64_t>(7, number));
  }
  {
    state_writer to;
    kept.save(to);
    to.put("next_key", ~std::uint64_t{0});
    CHECK_THROWS_WITH(kept.restore(state_reader(to.bytes())),
                      has_text("next_key: expected at most 4611686018427387904, got 184467"));
  }
  CHECK_THROWS_AS(kept.restore(state_reader(state_writer().bytes())), state_error);
  CHECK(saved(kept) == before);
}

TEST_CASE("replay_table: without a codec it can't be saved") {
  const table plain({});
  state_writer to;
  CHECK_THROWS_WITH(plain.save(to), "replay: save: expected a codec's encode");
  table other({});
  CHECK_THROWS_WITH(other.restore(state_reader(to.bytes())),
                    "replay: restore: expected a codec's decode");
}

}  // namespace troupe
