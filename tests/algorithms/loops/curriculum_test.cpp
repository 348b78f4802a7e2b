#include "actors/torch/torch.hpp"

#include "algorithms/loops/curriculum.hpp"

#include "actors/checkpoint/state.hpp"
#include "tests/algorithms/loops/toy.hpp"

namespace troupe {
namespace {

using namespace testing;
using loops::curriculum_levels;
using numbers = std::vector<std::int64_t>;

/// Episodes of the current level, 1 a success.
void play_series(curriculum_levels& levels, const std::string& outcomes) {
  for (const char one : outcomes) levels.ended({levels.level(), one == '1'});
}

/// Replicas that grade an episode a step, at the level they were told.
struct classroom {
  explicit classroom(const replica_info& info) : index(info.index) {}

  void set_level(std::size_t to) { level = to; }
  std::vector<loops::graded_episode> take_graded() { return std::exchange(graded, {}); }
  void episode(bool success) { graded.push_back({level, success}); }
  void crash() { throw fatal("gone"); }
  std::size_t current() { return level; }

  std::size_t index;
  std::size_t level = 0;
  std::vector<loops::graded_episode> graded;
};

task<> everybody_advances(system& sys) {
  auto rooms = co_await sys.serve<classroom>({.name = "rooms", .replicas = 3});
  curriculum_levels levels({.levels = 3, .promote_at = 0.75, .window = 4, .min_episodes = 4});
  const auto on_update_end = loops::curriculum(levels, rooms);
  std::vector<numbers> told;
  std::int64_t stopped = 0;
  for (int update = 1; stopped == 0 && update < 20; ++update) {
    co_await rooms.fanout<&classroom::episode>(true);
    stopped = co_await drive(on_update_end, 1) * update;
    const auto now = co_await rooms.fanout<&classroom::current>();
    told.push_back(numbers(now.begin(), now.end()));
  }
  // Four of three episodes an update: levels change after updates 2 and 4, the last is mastered
  // after 6. What is left of an update's episodes was at another level, and does not count.
  CHECK(stopped == 6);
  const std::vector<numbers> expected{{0, 0, 0}, {1, 1, 1}, {1, 1, 1},
                                      {2, 2, 2}, {2, 2, 2}, {2, 2, 2}};
  CHECK(told == expected);
  CHECK(levels.episodes() == numbers{6, 6, 6});
}

task<> replica_returns(system& sys) {
  auto rooms = co_await sys.serve<classroom>({.name = "rooms", .replicas = 2});
  curriculum_levels levels({.levels = 4, .window = 2, .min_episodes = 2});
  const auto on_update_end = loops::curriculum(levels, rooms);
  co_await rooms.fanout<&classroom::episode>(true);
  co_await drive(on_update_end, 1);
  CHECK(levels.level() == 1);
  co_await rooms.try_route<&classroom::crash>();
  co_await sleep_for(1s);
  auto now = co_await rooms.fanout<&classroom::current>();
  CHECK(now[0] + now[1] == 1);  // the one that was restarted knows no level
  co_await drive(on_update_end, 1);
  now = co_await rooms.fanout<&classroom::current>();
  CHECK(now == std::vector<std::size_t>{1, 1});
}

/// The other way: the levels are a role, and travel with the episode.
struct task_selector {
  service<replay_queue<toy_episode>> replay;
  service<curriculum_levels> levels;
  std::shared_ptr<numbers> played = std::make_shared<numbers>();
};

task<toy_episode> practise(task_selector with) {
  const auto level = co_await with.levels.route<&curriculum_levels::level>();
  with.played->push_back(static_cast<std::int64_t>(level));
  co_await sleep_for(10ms);
  const loops::graded_episode how{level, true};
  co_await with.levels.route<&curriculum_levels::ended>(how);
  co_return toy_episode{};
}

task<> level_travels(system& sys) {
  toy_state s;
  task_selector roles;
  roles.replay =
      co_await sys.serve<toy_queue>({.name = "replay"}, replay_options{.max_staleness = 9});
  loops::curriculum_options options{.levels = 3, .window = 5, .min_episodes = 2};
  roles.levels = co_await sys.serve<curriculum_levels>({.name = "levels"}, options);
  co_await loops::synchronous(roles, practise, toy_hooks(s, nullptr), {.updates = 6});
  CHECK(*roles.played == numbers{0, 0, 1, 1, 2, 2});
  const bool mastered = co_await roles.levels.route<&curriculum_levels::mastered>();
  CHECK(mastered);
}

}  // namespace

TEST_CASE("curriculum_levels: advances once the rate of the last episodes reaches promote_at") {
  curriculum_levels levels({.levels = 3, .promote_at = 0.75, .window = 4, .min_episodes = 4});
  play_series(levels, "111");
  CHECK(levels.level() == 0);  // too few
  play_series(levels, "0");
  CHECK(levels.level() == 1);
  CHECK(levels.success_rate() == 0);  // begins anew
  play_series(levels, "00001101");
  CHECK(levels.level() == 2);
  play_series(levels, "0101010");
  CHECK(levels.level() == 2);
  CHECK(!levels.mastered());
  play_series(levels, "11");
  CHECK(levels.mastered());
  play_series(levels, "0000000");
  CHECK(levels.level() == 2);
  CHECK(levels.mastered());  // it was, once
  CHECK(levels.episodes() == numbers{4, 8, 16});
}

TEST_CASE("curriculum_levels: episodes that began at another level don't count") {
  curriculum_levels levels({.levels = 2, .promote_at = 1, .window = 3, .min_episodes = 3});
  for (int i = 0; i < 3; ++i) levels.ended({0, true});
  REQUIRE(levels.level() == 1);
  for (int i = 0; i < 50; ++i) levels.ended({0, true});
  CHECK(!levels.mastered());
  CHECK(levels.success_rate() == 0);
  CHECK(levels.episodes() == numbers{53, 0});
}

TEST_CASE("curriculum_levels: goes back a level where it must not be kept, if asked to") {
  const loops::curriculum_options steady{.levels = 3, .window = 5, .min_episodes = 5};
  auto shaky = steady;
  shaky.demote_at = 0.2;
  for (const auto& [options, expected] : {std::pair(steady, 1u), std::pair(shaky, 0u)}) {
    curriculum_levels levels(options);
    play_series(levels, "1111100001");
    CHECK(levels.level() == expected);
    play_series(levels, "00000");
    CHECK(levels.level() == expected);  // nothing is below the first level
  }
}

TEST_CASE("curriculum_levels: goes on from its saved state as if nothing had happened") {
  const loops::curriculum_options options{
      .levels = 4, .promote_at = 0.7, .window = 7, .min_episodes = 5, .demote_at = 0.2};
  const std::string outcomes = "1101111101010000000111111111011111111110111111";
  for (std::size_t cut = 0; cut <= outcomes.size(); ++cut) {
    curriculum_levels through(options), before(options), after(options);
    play_series(through, outcomes);
    play_series(before, outcomes.substr(0, cut));
    after.restore(before.save());
    play_series(after, outcomes.substr(cut));
    CHECK(after.save() == through.save());
  }
  curriculum_levels other({.levels = 5});
  const auto saved = curriculum_levels(options).save();
  CHECK_THROWS_WITH(other.restore(saved),
                    "curriculum: episodes: expected those of 5 levels, got 4");
  CHECK_THROWS_AS(other.restore("no state"), state_error);
}

TEST_CASE("curriculum_levels: options out of range are refused by name") {
  const auto make = [](loops::curriculum_options o) { return curriculum_levels(o); };
  CHECK_THROWS_WITH(make({.levels = 0}), "curriculum: levels: expected a number > 0, got 0");
  CHECK_THROWS_WITH(make({.promote_at = 1.5}),
                    "curriculum: promote_at: expected a rate in (0, 1], got 1.5");
  CHECK_THROWS_AS(make({.promote_at = std::nan("")}), std::invalid_argument);
  CHECK_THROWS_AS(make({.window = 0}), std::invalid_argument);
  CHECK_THROWS_AS(make({.min_episodes = 0}), std::invalid_argument);
  CHECK_THROWS_WITH(make({.demote_at = 0.8}),
                    "curriculum: demote_at: expected a rate in [0, promote_at), got 0.8");
  curriculum_levels levels({.levels = 2});
  CHECK_THROWS_AS(levels.ended({2, true}), std::invalid_argument);
}

TEST_CASE("curriculum: tells every environment its level, and stops when the last is mastered") {
  for (std::uint64_t seed : {1, 2, 3}) play(everybody_advances, seed);
}

TEST_CASE("curriculum: a replica that was restarted is told the level again") {
  play(replica_returns);
}

TEST_CASE("curriculum_levels: as a role it gives each episode its level") { play(level_travels); }

}  // namespace troupe
