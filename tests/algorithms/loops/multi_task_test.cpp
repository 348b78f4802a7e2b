#include "actors/torch/torch.hpp"

#include "algorithms/loops/multi_task.hpp"

#include "actors/checkpoint/state.hpp"
#include "tests/algorithms/loops/toy.hpp"
#include "tests/message_of.hpp"

namespace troupe {
namespace {

using namespace testing;
using loops::schedule_rule;
using loops::task_schedule;
using turns = std::vector<std::size_t>;

turns next_of(task_schedule& schedule, int n) {
  turns taken;
  for (int i = 0; i < n; ++i) taken.push_back(schedule.next());
  return taken;
}

loops::schedule_options three(schedule_rule rule) {
  return {.tasks = {{.name = "left", .weight = 5, .target = 10},
                    {.name = "right", .weight = 1, .floor = -100, .target = 100},
                    {.name = "middle", .weight = 2, .target = 2}},
          .rule = rule,
          .window = 4};
}

/// One task's roles: its episodes return a number of its own.
struct player {
  service<toy_queue> replay;
  toy_state* state = nullptr;
  double result = 0;
};

task<toy_episode> play_task(player with) {
  co_await sleep_for(10ms);
  co_return toy_episode{++with.state->begun, with.state->version, {with.result, with.result}};
}
std::vector<double> returns_of(const toy_episode& e) { return e.scores; }

template <bool async>
task<> learn_together(system& sys) {
  toy_state s;
  auto replay = co_await sys.serve<toy_queue>({.name = "replay"},
                                              replay_options{.batch = 3, .max_staleness = 1});
  const auto schedule =
      co_await sys.serve<task_schedule>({.name = "schedule"}, three(schedule_rule::round_robin));
  loops::multi_task<player, toy_episode> together{
      .tasks = {{replay, &s, 10}, {replay, &s, 0}, {replay, &s, 2}},
      .schedule = schedule,
      .replay = replay,
      .generate = play_task,
      .returns = returns_of};
  auto hooks = toy_hooks(s, loops::stop_when_learned(schedule));
  loops::report totals;
  if (async) {
    totals = co_await loops::asynchronous(together, loops::generate_next_task<player, toy_episode>,
                                          hooks, {.rollouts = 3, .updates = 8});
  } else {
    totals = co_await loops::synchronous(together, loops::generate_next_task<player, toy_episode>,
                                         hooks, {.batch = 3, .updates = 8});
  }
  CHECK(totals.updates == 8);
  CHECK(!totals.stopped);  // right is half way
  const auto each = co_await schedule.route<&task_schedule::measured>();
  REQUIRE(each.size() == 3);
  CHECK(each[1].name == "right");
  CHECK(each[1].mean_return == 0);
  CHECK(each[1].relative_return == 0.5);
  CHECK(each[0].relative_return == 1);
  CHECK(each[2].relative_return == 1);
  if (!async) {
    CHECK(each[2].turns == 8);
    CHECK(each[2].episodes == 16);
  }
}

task<> stop_when_all_can(system& sys) {
  toy_state s;
  auto replay = co_await sys.serve<toy_queue>({.name = "replay"}, replay_options{.batch = 3});
  const auto schedule =
      co_await sys.serve<task_schedule>({.name = "schedule"}, three(schedule_rule::round_robin));
  loops::multi_task<player, toy_episode> together{
      .tasks = {{replay, &s, 10}, {replay, &s, 100}, {replay, &s, 2}},
      .schedule = schedule,
      .replay = replay,
      .generate = play_task,
      .returns = returns_of};
  const auto totals = co_await loops::synchronous(
      together, loops::generate_next_task<player, toy_episode>,
      toy_hooks(s, loops::stop_when_learned(schedule)), {.batch = 3, .updates = 8});
  CHECK(totals.stopped);
  CHECK(totals.updates == 2);  // two episodes a turn fill a window of four
}

}  // namespace

TEST_CASE("task_schedule: round_robin takes the tasks in turn") {
  task_schedule schedule(three(schedule_rule::round_robin));
  CHECK(next_of(schedule, 7) == turns{0, 1, 2, 0, 1, 2, 0});
}

TEST_CASE("task_schedule: proportional gives each task its share, evenly spread") {
  task_schedule schedule(three(schedule_rule::proportional));
  for (int round = 0; round < 50; ++round) {
    const auto eight = next_of(schedule, 8);
    CHECK(std::ranges::count(eight, 0u) == 5);
    CHECK(std::ranges::count(eight, 1u) == 1);
    CHECK(std::ranges::count(eight, 2u) == 2);
  }
  const auto eight = next_of(schedule, 8);
  const auto first = std::ranges::find(eight, 2u);
  CHECK(std::find(first + 1, eight.end(), 2u) - first > 2);
}

TEST_CASE("task_schedule: by_need begins with each task, then takes the worst relative return") {
  auto options = three(schedule_rule::by_need);
  options.longest_wait = 10;
  task_schedule schedule(options);
  CHECK(next_of(schedule, 3) == turns{0, 1, 2});
  schedule.ended(0, 9);   // 0.9 of its target
  schedule.ended(1, 60);  // 0.8: 160 of 200 above the floor
  schedule.ended(2, 1);   // 0.5
  CHECK(schedule.next() == 2);
  schedule.ended(2, 3);
  schedule.ended(2, 3);
  CHECK(schedule.next() == 1);
  for (int i = 0; i < 4; ++i) schedule.ended(1, 100);
  CHECK(schedule.next() == 0);
}

TEST_CASE("task_schedule: by_need leaves no task alone for longer than longest_wait turns") {
  auto options = three(schedule_rule::by_need);
  options.longest_wait = 5;
  task_schedule schedule(options);
  schedule.ended(0, 10);
  schedule.ended(1, -100);  // hopeless
  schedule.ended(2, 2);
  const auto taken = next_of(schedule, 60);
  CHECK(std::ranges::count(taken, 1u) >= 35);
  task_schedule usual(three(schedule_rule::by_need));  // 0: three, as there are tasks
  for (const std::size_t task : {0u, 2u}) usual.ended(task, 2);
  const auto also = next_of(usual, 60);
  // Right thrice, then left, middle, right, right again and again: 3 + 14 * 2, and a last left.
  CHECK(std::ranges::count(also, 1u) == 31);
  for (const std::size_t task : {0u, 2u}) {
    std::int64_t waited = 0;
    for (const auto one : taken) {
      waited = one == task ? 0 : waited + 1;
      CHECK(waited <= 6);  // two may be due at once
    }
  }
}

TEST_CASE("task_schedule: is learned when every task has a full window at its target") {
  task_schedule schedule(three(schedule_rule::round_robin));
  for (int i = 0; i < 4; ++i) {
    schedule.ended(0, 10);
    schedule.ended(1, 150);
    if (i < 3) schedule.ended(2, 2);
  }
  CHECK(!schedule.learned());
  schedule.ended(2, 2);
  CHECK(schedule.learned());
  schedule.ended(0, 9);
  CHECK(!schedule.learned());
  const auto each = schedule.measured();
  CHECK(each[0].mean_return == 9.75);
  CHECK(each[0].episodes == 5);
  CHECK(each[1].relative_return == 1.25);
  CHECK(each[0].turns == 0);
}

TEST_CASE("task_schedule: goes on from its saved state as if nothing had happened") {
  for (const auto rule :
       {schedule_rule::round_robin, schedule_rule::proportional, schedule_rule::by_need}) {
    for (int cut = 0; cut < 30; cut += 7) {
      task_schedule through(three(rule)), before(three(rule)), after(three(rule));
      const auto go_on = [](task_schedule& s, int from, int to) {
        for (int i = from; i < to; ++i) s.ended(s.next(), 0.1 * i);
      };
      go_on(through, 0, 30);
      go_on(before, 0, cut);
      after.restore(before.save());
      go_on(after, cut, 30);
      CHECK(after.save() == through.save());
    }
  }
  task_schedule schedule(three(schedule_rule::round_robin));
  auto renamed = three(schedule_rule::round_robin);
  renamed.tasks[2].name = "up";
  CHECK_THROWS_WITH(task_schedule(renamed).restore(schedule.save()),
                    "task_schedule: task 2: expected up, got middle");
  renamed.tasks.pop_back();
  CHECK_THROWS_WITH(task_schedule(renamed).restore(schedule.save()),
                    "task_schedule: tasks: expected 2, got 3");
}

TEST_CASE("task_schedule: options out of range are refused, naming the task") {
  const auto refuse = [](auto change) {
    auto options = three(schedule_rule::round_robin);
    change(options);
    return testing::message_of<std::invalid_argument>([&] { task_schedule made(options); });
  };
  CHECK(refuse([](auto& o) { o.tasks.clear(); }) == "task_schedule: expected a task, got none");
  CHECK(refuse([](auto& o) { o.tasks[1].weight = 0; }) ==
        "task right: weight: expected a number > 0, got 0");
  CHECK(refuse([](auto& o) { o.tasks[0].target = 0; }) ==
        "task left: target: expected a return above its floor 0, got 0");
  CHECK(refuse([](auto& o) { o.tasks[2].name = "left"; }) ==
        "task left: name: expected one that no other task has");
  CHECK(refuse([](auto& o) { o.window = 0; }) ==
        "task_schedule: window: expected a number > 0, got 0");
  CHECK(refuse([](auto& o) { o.longest_wait = -1; }) ==
        "task_schedule: longest_wait: expected a number >= 0, got -1");
  task_schedule schedule(three(schedule_rule::round_robin));
  CHECK_THROWS_WITH(schedule.ended(3, 1.0), "task_schedule: expected a task below 3, got 3");
}

TEST_CASE("multi_task: one loop trains on all tasks and measures each apart") {
  for (std::uint64_t seed : {1, 2, 3}) {
    play(learn_together<false>, seed);
    play(learn_together<true>, seed);
  }
}

TEST_CASE("stop_when_learned: stops as soon as every task has reached its target") {
  play(stop_when_all_can);
}

}  // namespace troupe
