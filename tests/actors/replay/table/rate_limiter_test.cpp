#include "actors/replay/rate_limiter.hpp"

#include <random>

#include "actors/checkpoint/state.hpp"
#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

using testing::has_text;

void insert(rate_limiter& limiter, int times = 1) {
  for (int i = 0; i < times; ++i) limiter.inserted();
}
void sample(rate_limiter& limiter, int times = 1) {
  for (int i = 0; i < times; ++i) limiter.sampled();
}

rate_limiter restored(const rate_limiter& before, const rate_limiter_options& options) {
  state_writer to;
  before.save(to);
  rate_limiter after(options);
  after.restore(state_reader(to.bytes()));
  return after;
}

}  // namespace

TEST_CASE("rate_limiter: min_size keeps samples waiting until so many entries are there") {
  rate_limiter limiter(rate_limiter_options::min_size(2));
  CHECK_FALSE(limiter.may_sample());
  insert(limiter);
  CHECK_FALSE(limiter.may_sample());
  insert(limiter);
  CHECK(limiter.may_sample());
  sample(limiter, 1000);
  CHECK(limiter.may_sample(1000));
  CHECK(limiter.may_insert());
  limiter.removed();  // one is there
  CHECK_FALSE(limiter.may_sample());
}

TEST_CASE("rate_limiter: samples may not take diff below min_diff") {
  rate_limiter limiter(
      {.samples_per_insert = 1.5, .min_size_to_sample = 2, .min_diff = 0.5, .max_diff = 5});
  insert(limiter);  // diff = 1.5
  CHECK_FALSE(limiter.may_sample());
  insert(limiter);  // diff = 3
  CHECK(limiter.diff() == 3);
  CHECK(limiter.may_sample(2));
  CHECK_FALSE(limiter.may_sample(3));
  sample(limiter, 2);  // diff = 1
  CHECK_FALSE(limiter.may_sample());
  insert(limiter);  // diff = 2.5
  CHECK(limiter.may_sample(2));
}

TEST_CASE("rate_limiter: inserts may not take diff above max_diff, and are free below min_size") {
  rate_limiter limiter(
      {.samples_per_insert = 2, .min_size_to_sample = 3, .min_diff = 0, .max_diff = 5});
  insert(limiter, 2);           // diff = 4
  CHECK(limiter.may_insert());  // the third makes 6, but three are the least to sample from
  insert(limiter);              // diff = 6
  CHECK_FALSE(limiter.may_insert());
  sample(limiter, 2);  // diff = 4
  CHECK_FALSE(limiter.may_insert());
  sample(limiter);  // diff = 3
  CHECK(limiter.may_insert());
  insert(limiter);  // diff = 5
  CHECK_FALSE(limiter.may_insert());
  limiter.removed();
  limiter.removed();  // two are there
  CHECK(limiter.may_insert());
}

TEST_CASE("rate_limiter: a queue lets so many in ahead of the samples") {
  rate_limiter limiter(rate_limiter_options::queue(2));
  CHECK_FALSE(limiter.may_sample());
  insert(limiter, 2);  // diff = 2
  CHECK_FALSE(limiter.may_insert());
  CHECK(limiter.may_sample(2));
  CHECK_FALSE(limiter.may_sample(3));
  sample(limiter);  // diff = 1
  limiter.removed();
  CHECK(limiter.may_insert());
}

TEST_CASE("rate_limiter: entries lost unsampled don't hold up inserts") {
  rate_limiter limiter(rate_limiter_options::queue(3));
  insert(limiter, 3);                          // diff = 3
  limiter.removed();                           // too stale
  CHECK_FALSE(limiter.may_insert());           // by diff alone
  CHECK(limiter.may_insert(/*available=*/2));  // two can still be sampled
  insert(limiter);                             // diff = 4
  CHECK_FALSE(limiter.may_insert(/*available=*/3));
}

TEST_CASE("rate_limiter: the ratio's bounds lie around min_size * samples_per_insert") {
  const auto options = rate_limiter_options::sample_to_insert_ratio(
      /*samples_per_insert=*/2, /*min_size=*/10, /*error_buffer=*/4);
  CHECK(options ==
        rate_limiter_options{
            .samples_per_insert = 2, .min_size_to_sample = 10, .min_diff = 16, .max_diff = 24});
}

TEST_CASE("rate_limiter: a ratio too narrow for a whole insert and a whole sample is refused") {
  using options = rate_limiter_options;
  CHECK_NOTHROW(options::sample_to_insert_ratio(0.5, 10, 1));
  CHECK_THROWS_WITH(options::sample_to_insert_ratio(0.5, 10, 0.9),
                    has_text("error_buffer: expected at least max(1, samples_per_insert) = 1"));
  CHECK_THROWS_WITH(options::sample_to_insert_ratio(4, 10, 3.5), has_text("= 4, got 3.5"));
  CHECK_THROWS_WITH(options::sample_to_insert_ratio(4, 10, 37, 44),
                    has_text("expected at least 2 max(1, samples_per_insert) = 8, got 7"));
  CHECK_THROWS_WITH(options::sample_to_insert_ratio(1, 10, 11, 20),
                    has_text("min_size * samples_per_insert = 10 between them, got 11 and 20"));
}

TEST_CASE("rate_limiter: refuses options that can't be") {
  CHECK_THROWS_WITH(rate_limiter({.samples_per_insert = 0}), has_text("samples_per_insert"));
  CHECK_THROWS_WITH(rate_limiter({.samples_per_insert = std::nan("")}), has_text("got nan"));
  CHECK_THROWS_WITH(rate_limiter({.min_size_to_sample = 0}), has_text("min_size_to_sample"));
  CHECK_THROWS_WITH(rate_limiter({.min_diff = 2, .max_diff = 1}),
                    has_text("at least min_diff (2)"));
  CHECK_THROWS_WITH(rate_limiter({.min_diff = std::nan("")}), has_text("got"));
  CHECK_THROWS_WITH(rate_limiter_options::queue(0), has_text("queue size"));
  CHECK_THROWS_WITH(rate_limiter_options::min_size(0), has_text("min_size_to_sample"));
}

TEST_CASE("rate_limiter: within a valid ratio either an insert or a sample may always go on") {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const auto ratio = (1 + random() % 40) / 8.0;
    const auto least = std::max(1.0, ratio);
    const auto min_size = 1 + static_cast<std::int64_t>(random() % 20);
    rate_limiter limiter(rate_limiter_options::sample_to_insert_ratio(
        ratio, min_size, least * (1 + (random() % 8) / 8.0)));
    const auto bounds = limiter.options();
    for (int step = 0; step < 500; ++step) {
      const bool in = limiter.may_insert(), out = limiter.may_sample();
      REQUIRE((in || out));
      if (in && (!out || random() % 2)) {
        limiter.inserted();
      } else {
        limiter.sampled();
        REQUIRE(limiter.diff() >= bounds.min_diff);
      }
      REQUIRE(limiter.diff() <= bounds.max_diff);
    }
  }
}

TEST_CASE("rate_limiter: knows which sample does not fit between its bounds") {
  const rate_limiter limiter(rate_limiter_options::sample_to_insert_ratio(1, 10, 4));  // 6 .. 14
  CHECK(limiter.fits(8));
  CHECK_FALSE(limiter.fits(9));
  CHECK(rate_limiter(rate_limiter_options::min_size(1)).fits(1'000'000));
}

TEST_CASE("rate_limiter: continues with its counts, and forgets them where its options changed") {
  rate_limiter before(rate_limiter_options::queue(10));
  insert(before, 9);
  sample(before, 4);
  for (int i = 0; i < 4; ++i) before.removed();
  const auto same = restored(before, rate_limiter_options::queue(10));
  CHECK(same.describe() == before.describe());
  CHECK(same.size() == 5);
  // Five are there. With room for three, diff 5 would forbid inserts until two are sampled: so it
  // is 3. By the old counts a ratio of 4 would have diff 32, far above its bounds.
  const auto smaller = restored(before, rate_limiter_options::queue(3));
  CHECK(smaller.diff() == 3);
  CHECK(smaller.size() == 5);
  const auto other =
      restored(before, rate_limiter_options::sample_to_insert_ratio(4, /*min_size=*/2, 4));  // 4-12
  CHECK(other.diff() == 12);
  CHECK(other.may_sample(8));
}

TEST_CASE("rate_limiter: refuses a damaged state") {
  state_writer to;
  to.put("limiter_options", std::vector<double>{1, 1, 0, 1});
  to.put("limiter_inserts", 3);
  to.put("limiter_samples", 0);
  to.put("limiter_deletes", 4);
  rate_limiter limiter({});
  CHECK_THROWS_AS(limiter.restore(state_reader(to.bytes())), state_error);
  for (const auto* name : {"limiter_inserts", "limiter_samples"}) {
    state_writer large;
    insert(limiter, 4);
    limiter.save(large);
    large.put(name, std::numeric_limits<std::int64_t>::max());
    CHECK_THROWS_WITH(limiter.restore(state_reader(large.bytes())),
                      has_text("at most 4611686018427387904 of each"));
  }
}

}  // namespace troupe
