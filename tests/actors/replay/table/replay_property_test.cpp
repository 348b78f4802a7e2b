// Random sequences of operations on random tables, against what must hold whatever happens.

#include <map>
#include <random>
#include <set>

#include "tests/actors/replay/table/text_items.hpp"
#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

using table = replay_table<std::string>;
using texts = std::vector<std::string>;

std::int64_t below(std::mt19937& random, std::int64_t bound) {
  return static_cast<std::int64_t>(random()) % bound;
}

rate_limiter_options any_limiter(std::mt19937& random) {
  switch (below(random, 3)) {
    case 0:
      return rate_limiter_options::queue(1 + below(random, 12));
    case 1:
      return rate_limiter_options::min_size(1 + below(random, 5));
    default: {
      const auto ratio = static_cast<double>(1 + below(random, 24)) / 8;
      return rate_limiter_options::sample_to_insert_ratio(ratio, 1 + below(random, 5),
                                                          2 * std::max(1.0, ratio));
    }
  }
}

replay_table_options any_options(std::mt19937& random) {
  const auto order = [&] { return static_cast<selection_order>(below(random, 6)); };
  replay_table_options options{.sampler = {.order = order()},
                               .remover = {.order = order()},
                               .limiter = any_limiter(random),
                               .max_items = 5 + below(random, 20),
                               .max_bytes = 20 + below(random, 60),
                               .max_times_sampled = below(random, 4),
                               .seed = random()};
  if (below(random, 2)) options.max_staleness = below(random, 4);
  return options;
}

/// A table and what is known of it from outside.
struct play_through {
  explicit play_through(std::uint32_t seed)
      : random(seed), options(any_options(random)), under(options, text_codec()) {}

  void insert() {
    // The items of a group are its number, written once for each: "17", "17", "17".
    texts group(static_cast<std::size_t>(1 + below(random, 4)), std::to_string(++groups));
    const auto version = std::max<std::int64_t>(0, latest - below(random, 3));
    const auto size = group.size();
    const auto key = under.insert({.items = std::move(group),
                                   .priority = static_cast<double>(below(random, 8)) / 2,
                                   .version = version});
    const bool stale = options.max_staleness && latest - version > *options.max_staleness;
    REQUIRE(key.has_value() == !stale);
    if (!key) return;
    REQUIRE(inserted.emplace(*key, size).second);  // no key comes twice
    number_of[*key] = std::to_string(groups);
  }

  void sample() {
    const auto count = 1 + static_cast<std::int64_t>(below(random, 3));
    if (!under.may_sample(count)) {
      REQUIRE(under.shortage(count) != "nothing is short");
      return;
    }
    for (const auto& one : under.sample(count)) {
      const auto key = one.info.key;
      REQUIRE(*one.items == texts(inserted.at(key), number_of.at(key)));  // whole, and its own
      REQUIRE(one.info.times_sampled == ++times_sampled[key]);
      if (options.max_times_sampled > 0) {
        REQUIRE(one.info.times_sampled <= options.max_times_sampled);
      }
      if (options.max_staleness) REQUIRE(latest - one.info.version <= *options.max_staleness);
      REQUIRE(one.info.probability > 0);
      REQUIRE(one.info.probability <= 1);
      sampled_keys.push_back(key);
    }
  }

  void update() {
    std::vector<priority_update> updates;
    for (int i = 0; i < 3 && !sampled_keys.empty(); ++i) {
      updates.push_back({sampled_keys[random() % sampled_keys.size()],
                         static_cast<double>(below(random, 8)) / 2});
    }
    REQUIRE(under.update_priorities(updates) <= std::ssize(updates));
  }

  void reload() {
    const auto bytes = saved(under);
    under = table(options, text_codec());
    under.restore(state_reader(bytes));
    REQUIRE(saved(under) == bytes);
  }

  void check() const {
    const auto counts = under.counts();
    REQUIRE(counts.items <= options.max_items);
    REQUIRE(counts.bytes <= options.max_bytes);
    REQUIRE(counts.items >= counts.held);
    REQUIRE(counts.inserted == groups);
    const auto gone = counts.evicted + counts.used_up + counts.stale;
    REQUIRE(counts.held == counts.inserted - gone);
    if (counts.held > 0) return;
    REQUIRE(counts.items == 0);
    REQUIRE(counts.bytes == 0);
  }

  void step() {
    switch (below(random, 8)) {
      case 0:
        latest += below(random, 2);
        return under.advance(latest);
      case 1:
        return update();
      case 2:
        return below(random, 8) == 0 ? reload() : void();
      case 3:
      case 4:
        return sample();
      default:
        return under.may_insert() ? insert() : sample();
    }
  }

  std::mt19937 random;
  replay_table_options options;
  table under;
  int groups = 0;
  std::int64_t latest = 0;
  std::map<std::uint64_t, std::size_t> inserted;
  std::map<std::uint64_t, std::string> number_of;
  std::map<std::uint64_t, std::int64_t> times_sampled;
  std::vector<std::uint64_t> sampled_keys;
};

}  // namespace

TEST_CASE("replay_table: no sequence of operations exceeds a bound or splits a group") {
  std::int64_t sampled = 0, evicted = 0, used_up = 0, stale = 0;
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    INFO("seed " << seed);
    play_through play(seed);
    for (int step = 0; step < 400; ++step) {
      play.step();
      play.check();
    }
    const auto counts = play.under.counts();
    REQUIRE(counts.inserted > 1);
    sampled += counts.sampled;
    evicted += counts.evicted;
    used_up += counts.used_up;
    stale += counts.stale;
  }
  // Everything that can happen did.
  CHECK(sampled > 10'000);
  CHECK(evicted > 1000);
  CHECK(used_up > 1000);
  CHECK(stale > 1000);
}

TEST_CASE("replay_table: where inserts may not go on, a sample may") {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    INFO("seed " << seed);
    play_through play(seed);
    for (int step = 0; step < 400; ++step) {
      // One that asks for a single entry and one that inserts are never both kept waiting.
      REQUIRE((play.under.may_insert() || play.under.may_sample(1)));
      play.step();
    }
  }
}

}  // namespace troupe
