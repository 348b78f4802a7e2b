#include "actors/torch/torch.hpp"

#include "algorithms/loops/callbacks.hpp"

#include "tests/algorithms/loops/toy.hpp"

namespace troupe {
namespace {

using namespace testing;
using numbers = std::vector<std::int64_t>;

template <bool async>
task<> stop_a_loop(system& sys) {
  toy_state s;
  const auto roles = co_await serve_toys(sys, s, {.batch = 2, .max_staleness = 1});
  noting notes{.at = {}, .stop_at = 4};
  const auto hooks = toy_hooks(s, note_in(notes));
  loops::report totals;
  if (async) {
    totals = co_await loops::asynchronous(roles, play_toy, hooks, {.rollouts = 3, .updates = 100});
  } else {
    totals = co_await loops::synchronous(roles, play_toy, hooks, {.batch = 2, .updates = 100});
  }
  CHECK(totals.stopped);
  CHECK(totals.updates == 4);
  CHECK(notes.at == numbers{1, 2, 3, 4});
  CHECK(s.under_way == 0);
  const auto begun = s.begun;
  co_await sleep_for(10s);
  CHECK(s.begun == begun);
  const auto counts = co_await roles.replay.route<&toy_queue::counts>();
  CHECK(counts.sampled == 8);
}

task<loops::verdict> keep(std::vector<loops::progress>& seen, loops::progress now) {
  seen.push_back(now);
  co_return loops::verdict::go_on;
}

task<> tell_progress(system& sys) {
  toy_state s;
  const auto roles = co_await serve_toys(sys, s, {.batch = 2});
  auto hooks = toy_hooks(s, [&s](loops::progress now) { return keep(s.seen, now); });
  hooks.steps = [](const toy_episode& e) { return 10 * e.number; };
  const auto totals =
      co_await loops::synchronous(roles, play_toy, hooks, {.batch = 2, .updates = 3});
  CHECK(!totals.stopped);
  CHECK(totals.steps == 210);
  REQUIRE(s.seen.size() == 3);
  const auto& second = s.seen[1];
  CHECK(second.updates == 2);
  CHECK(second.steps == 100);
  CHECK(second.steps_of_update == 70);
  CHECK(second.episodes == 4);
  CHECK(second.version == 2);
  CHECK(second.seconds == Approx(0.34).margin(0.01));
}

task<> count_items(system& sys) {
  toy_state s;
  const auto roles = co_await serve_toys(sys, s, {.batch = 3});
  const auto totals = co_await loops::synchronous(roles, play_toy, toy_hooks(s, nullptr),
                                                  {.batch = 3, .updates = 2});
  CHECK(totals.steps == 6);
}

task<loops::verdict> break_down(loops::progress) {
  throw std::runtime_error("the callback broke down");
  co_return loops::verdict::go_on;
}

template <bool async>
task<> throw_in_callback(system& sys) {
  toy_state s;
  const auto roles = co_await serve_toys(sys, s, {.batch = 1, .max_staleness = 1});
  const auto hooks = toy_hooks(s, break_down);
  std::string error;
  if (async) {
    error = co_await error_of(loops::asynchronous(roles, play_toy, hooks, {.updates = 9}));
  } else {
    error = co_await error_of(loops::synchronous(roles, play_toy, hooks, {.updates = 9}));
  }
  CHECK(error == "the callback broke down");
  CHECK(s.version == 1);
  CHECK(s.under_way == 0);
}

task<> list_of_three(system&) {
  noting first, second{.at = {}, .stop_at = 3}, third;
  const auto list = loops::in_turn({note_in(first), note_in(second), note_in(third)});
  const auto stopped = co_await drive(list, 9);
  CHECK(stopped == 3);
  CHECK(first.at == numbers{1, 2, 3});
  CHECK(third.at == numbers{1, 2, 3});  // it is asked although the one before said stop
  const auto none = co_await drive(loops::in_turn({}), 3);
  CHECK(none == 0);
}

task<> periods(system&) {
  noting by_step, by_update, seldom;
  const auto list = loops::in_turn({loops::every_steps(100, note_in(by_step)),
                                    loops::every_updates(4, note_in(by_update)),
                                    loops::every_steps(1000, note_in(seldom))});
  co_await drive(list, 12, 30);  // steps 30, 60, 90, 120, ..., 360
  CHECK(by_step.at == numbers{4, 7, 10});
  CHECK(by_update.at == numbers{4, 8, 12});
  CHECK(seldom.at.empty());

  noting leaping;  // an update that passes several multiples asks once
  co_await drive(loops::every_steps(100, note_in(leaping)), 3, 250);
  CHECK(leaping.at == numbers{1, 2, 3});

  noting resumed;  // the first update of a run that goes on at step 250
  const auto on_update_end = loops::every_steps(100, note_in(resumed));
  const loops::progress first{.updates = 1, .steps = 280, .steps_of_update = 30};
  const loops::progress second{.updates = 2, .steps = 310, .steps_of_update = 30};
  co_await on_update_end(first);
  co_await on_update_end(second);
  CHECK(resumed.at == numbers{2});

  noting stopping{.at = {}, .stop_at = 6};  // a verdict comes through
  const auto stopped = co_await drive(loops::every_updates(3, note_in(stopping)), 12);
  CHECK(stopped == 6);
}

task<> save_to(numbers& saved, loops::progress now) {
  co_await sleep_for(1ms);
  if (now.updates == 2) throw std::runtime_error("no space left on device");
  saved.push_back(now.steps);
}

task<> failing_disk(system& sys) {
  numbers saved;
  const auto saving = loops::save_with([&saved](loops::progress p) { return save_to(saved, p); },
                                       checkpoint_metrics(sys.metrics()));
  const auto stopped = co_await drive(saving, 4, 10);
  CHECK(stopped == 0);
  CHECK(saved == numbers{10, 30, 40});
  const auto failures = sys.metrics().counter("troupe_checkpoints_total",
                                              "Checkpoints written or read, by how it ended.",
                                              {{"outcome", "write_error"}});
  CHECK(failures.value() == 1);
}

task<> first_that_holds(system&) {
  const auto on_update_end =
      loops::stop_when([](const loops::progress& p) { return p.steps >= 500; });
  const auto stopped = co_await drive(on_update_end, 100, 60);
  CHECK(stopped == 9);
}

}  // namespace

TEST_CASE("loops: a callback that says stop ends the loop after that update, in both modes") {
  for (std::uint64_t seed : {1, 2, 3}) {
    play(stop_a_loop<false>, seed);
    play(stop_a_loop<true>, seed);
  }
}

TEST_CASE("loops: a callback is told updates, steps, episodes, version and time") {
  play(tell_progress);
  play(count_items);
}

TEST_CASE("loops: a callback that throws ends the loop with its error") {
  play(throw_in_callback<false>);
  play(throw_in_callback<true>);
}

TEST_CASE("in_turn: asks every callback, and stops if one says so") { play(list_of_three); }

TEST_CASE("every_steps, every_updates: ask once for each multiple that was passed") {
  play(periods);
}

TEST_CASE("save_with: a save that fails does not end training") { play(failing_disk); }

TEST_CASE("stop_when: stops at the first update for which it holds") { play(first_that_holds); }

TEST_CASE("callbacks: a missing function or a period below 1 is refused by name") {
  const loops::callback fine = [](loops::progress now) { return break_down(now); };
  CHECK_THROWS_WITH(loops::in_turn({fine, nullptr}), "in_turn: expected a function, got none");
  CHECK_THROWS_WITH(loops::every_steps(0, fine), "every_steps: expected a number > 0, got 0");
  CHECK_THROWS_WITH(loops::every_updates(-3, fine), "every_updates: expected a number > 0, got -3");
  CHECK_THROWS_AS(loops::every_steps(1, nullptr), std::invalid_argument);
  CHECK_THROWS_AS(loops::save_with(nullptr), std::invalid_argument);
  CHECK_THROWS_AS(loops::stop_when(nullptr), std::invalid_argument);
}

}  // namespace troupe
