// What producers were told is in the replay is there, once, while its replica dies again and again.

#include <map>

#include "actors/replay/replay_queue.hpp"
#include "runtime/service/options/fault_plan.hpp"
#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

using namespace testing;

struct item {
  std::int64_t version = 0;
  item_id id;
};
using queue = replay_queue<item>;

constexpr int producers = 4, items_each = 100;

/// What one producer was told: items whose insertion ended well, and with an error.
struct told {
  std::vector<item_id> accepted, failed;
};

task<> produce(service<queue> into, told& by) {
  producer numbers;
  for (int i = 0; i < items_each; ++i) {
    const auto id = numbers.next();
    const auto sent = co_await into.try_route<&queue::insert>(item{0, id});
    (sent.ok() ? by.accepted : by.failed).push_back(id);
  }
}

task<> deliver_all(system& sys) {
  serve_options keeping{.name = "replay",
                        .max_restarts = 100'000,
                        .backoff = 1ms,
                        .backoff_limit = 1ms,
                        .idempotent = {endpoint<&queue::insert>, endpoint<&queue::save>},
                        .max_retries = 100,
                        .poison_limit = 100};
  auto replay = co_await sys.serve<queue>(keeping, replay_options{.capacity = 10'000},
                                          std::make_shared<queue::storage>());
  std::vector<told> all_told(producers);
  std::vector<task<>> all_produce;
  for (auto& each : all_told) all_produce.push_back(produce(replay, each));
  co_await all(std::move(all_produce));

  const auto held = co_await replay.route<&queue::save>();
  std::map<std::pair<std::uint64_t, std::uint64_t>, int> times;
  for (const auto& i : held.items) ++times[{i.id.producer, i.id.number}];
  std::size_t accepted = 0;
  for (const auto& by : all_told) {
    CHECK(by.failed.empty());
    for (const auto& id : by.accepted) CHECK(times[{id.producer, id.number}] == 1);
    accepted += by.accepted.size();
  }
  CHECK(held.items.size() == accepted);
  CHECK(held.counts.repeated > 0);  // The plan's replies were lost after the item was in.
}

struct big {
  std::vector<float> values;
  std::int64_t version = 0;
};
using big_queue = replay_queue<big>;

task<> roll_out_for_ever(service<big_queue> into, int& made) {
  for (;;) {
    ++made;
    co_await into.route<&big_queue::insert>(big{std::vector<float>(25'000), 0});
  }
}

task<> sample_slowly(group& rollouts, service<big_queue> from, int& made, int bound) {
  for (int i = 0; i < 8; ++i) rollouts.start(roll_out_for_ever(from, made));
  for (int taken = 0; taken <= 20; ++taken) {
    co_await sleep_for(1s);
    const auto seen = co_await from.route<&big_queue::counts>();
    CHECK(seen.bytes == seen.held * wire_size(big{std::vector<float>(25'000), 0}));
    CHECK(seen.held == static_cast<std::size_t>(bound));
    CHECK(made == taken + bound + 8);  // Those of the rollouts that wait.
    co_await from.route<&big_queue::sample>();
  }
}

task<> hold_back(system& sys) {
  for (const auto& [options, bound] :
       {std::pair(replay_options{.capacity = 7}, 7),
        std::pair(replay_options{.max_bytes = 550'000}, 5)}) {  // Of 100 KB each.
    int made = 0;
    auto replay = co_await sys.serve<big_queue>({.name = "replay"}, options);
    co_await with_group(sample_slowly, replay, std::ref(made), bound);
    sys.stop(replay);
  }
}

task<> one_sample_fits(system& sys) {
  auto replay =
      co_await sys.serve<big_queue>({.name = "replay"}, replay_options{.batch = 3, .max_bytes = 1});
  for (int i = 0; i < 3; ++i) co_await replay.route<&big_queue::insert>(big{{1, 2, 3}, 0});
  const auto batch = co_await replay.route<&big_queue::sample>();
  CHECK(batch.size() == 3);
}

}  // namespace

TEST_CASE("delivery: nothing that was acknowledged is lost, and nothing is there twice") {
  log_off();
  for (std::uint64_t seed = 0; seed < 25; ++seed) {
    system sys({.deterministic = true, .seed = seed, .faults = fault_plan::parse("crash=0.1")});
    sys.run(deliver_all(sys));
  }
}

TEST_CASE("delivery: a slow replay holds the rollouts back, by items and by bytes") {
  play(hold_back);
}
TEST_CASE("delivery: one sample is held whatever its size") { play(one_sample_fits); }

}  // namespace troupe
