#include "actors/torch/torch.hpp"

#include "algorithms/loops/loops.hpp"

#include <random>

#include "tests/captured_stream.hpp"
#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

using namespace testing;

struct episode {
  int number = 0;
  std::int64_t version = 0;
};
using queue = replay_queue<episode>;

/// What the coroutines of one test share: one thread runs them all.
struct shared {
  std::mt19937 random{1};
  std::int64_t version = 0;
  int begun = 0;
  int fail_every = 0;  ///< Of the episodes; 0: none.
  std::vector<std::string> seen;
  std::vector<std::int64_t> staleness;
};

struct roles {
  service<queue> replay;
  shared* state = nullptr;
};

/// The episode function of every test here, for every loop.
task<episode> play_episode(roles with) {
  auto& s = *with.state;
  const episode made{++s.begun, s.version};
  co_await sleep_for(std::chrono::milliseconds(50 + s.random() % 100));
  if (s.fail_every > 0 && made.number % s.fail_every == 0) {
    throw std::runtime_error("episode " + std::to_string(made.number) + " broke down");
  }
  s.seen.push_back("episode");
  co_return made;
}

task<std::int64_t> train(shared& s, std::vector<episode> batch) {
  for (const auto& e : batch) s.staleness.push_back(s.version - e.version);
  s.seen.push_back("train " + std::to_string(batch.size()));
  co_await sleep_for(70ms);
  co_return ++s.version;
}

task<> note_update(shared& s, std::int64_t version) {
  s.seen.push_back("updated " + std::to_string(version));
  co_return;
}

loops::hooks<episode> hooks_of(shared& s) {
  return {.train = [&s](std::vector<episode> batch) { return train(s, std::move(batch)); },
          .updated = [&s](std::int64_t version) { return note_update(s, version); }};
}

task<roles> serve(system& sys, shared& s, replay_options options) {
  auto replay = co_await sys.serve<queue>({.name = "replay"}, options);
  co_return roles{replay, &s};
}

task<> synchronous_order(system& sys) {
  shared s;
  const auto services = co_await serve(sys, s, {.batch = 2});
  const auto totals =
      co_await loops::synchronous(services, play_episode, hooks_of(s), {.batch = 2, .updates = 3});
  const std::vector<std::string> expected{"episode", "episode", "train 2", "updated 1",  //
                                          "episode", "episode", "train 2", "updated 2",  //
                                          "episode", "episode", "train 2", "updated 3"};
  CHECK(s.seen == expected);
  CHECK(s.staleness == std::vector<std::int64_t>(6, 0));
  CHECK(totals.updates == 3);
  CHECK(totals.episodes == 6);
  CHECK(totals.failed == 0);
  CHECK(totals.overlap_fraction == 0);
  CHECK(totals.wall > 0.3);
}

/// Bound, workers and batch of one run.
struct bound {
  std::int64_t max_staleness;
  std::size_t workers;
  std::int64_t batch;
};

task<> stay_in_bound(system& sys, bound b) {
  shared s;
  const auto services =
      co_await serve(sys, s, {.batch = b.batch, .max_staleness = b.max_staleness});
  const auto totals = co_await loops::asynchronous(services, play_episode, hooks_of(s),
                                                   {.rollouts = b.workers, .updates = 60});
  CHECK(totals.updates == 60);
  CHECK(std::ssize(s.staleness) == 60 * b.batch);
  const auto stalest = std::ranges::max(s.staleness);
  CHECK(stalest <= b.max_staleness);
  if (b.max_staleness > 0) {
    CHECK(stalest > 0);
    CHECK(totals.overlap_fraction > 0.1);
  }
  CHECK(totals.overlap_fraction <= 1);
  const auto counts = co_await services.replay.route<&queue::counts>();
  CHECK(counts.staleness_max == stalest);
  CHECK(counts.sampled == 60 * b.batch);
}

template <bool async>
task<> anew(system& sys) {
  shared s;
  s.fail_every = 3;
  const auto services = co_await serve(sys, s, {.batch = 2, .max_staleness = async});
  loops::report totals;
  if (async) {
    totals = co_await loops::asynchronous(services, play_episode, hooks_of(s),
                                          {.rollouts = 2, .updates = 10});
  } else {
    totals = co_await loops::synchronous(services, play_episode, hooks_of(s),
                                         {.batch = 2, .updates = 10});
  }
  CHECK(totals.updates == 10);
  CHECK(totals.episodes >= 20);
  CHECK(totals.failed >= 9);
  if (!async) CHECK(totals.failed == s.begun / 3);
  CHECK(s.staleness.size() == 20);
}

template <bool async>
task<> always_fail(system& sys) {
  shared s;
  s.fail_every = 1;
  const auto services = co_await serve(sys, s, {.batch = 1, .max_staleness = 1});
  std::string error;
  try {
    if (async) {
      co_await loops::asynchronous(services, play_episode, hooks_of(s), {.rollouts = 1});
    } else {
      co_await loops::synchronous(services, play_episode, hooks_of(s), {});
    }
  } catch (const std::exception& e) {
    error = e.what();
  }
  CHECK(error == "episode 20 broke down");
  CHECK(s.seen.empty());
}

/// Every third episode fails, and a stop is asked for before the second failure.
template <bool async>
task<> stop_at_a_failure(system& sys) {
  shared s;
  s.fail_every = 3;
  const auto services = co_await serve(sys, s, {.batch = 1, .max_staleness = 1});
  auto hooks = hooks_of(s);
  hooks.stop_asked = [&s] { return s.begun >= 6; };
  std::string error;
  try {
    if (async) {
      co_await loops::asynchronous(services, play_episode, hooks, {.rollouts = 1, .updates = 50});
    } else {
      co_await loops::synchronous(services, play_episode, hooks, {.updates = 50});
    }
  } catch (const std::exception& e) {
    error = e.what();
  }
  CHECK(error == "episode 6 broke down");
}

task<loops::verdict> fail_after_five(shared& s, loops::progress now) {
  if (now.updates == 5) s.fail_every = 1;
  co_return loops::verdict::go_on;
}

/// All updates are made when an episode fails, which the loop awaits before it returns.
task<> stop_at_rest(system& sys) {
  shared s;
  const auto services = co_await serve(sys, s, {.batch = 1, .max_staleness = 3});
  auto hooks = hooks_of(s);
  hooks.stop_asked = [] { return true; };
  hooks.on_update_end = [&s](loops::progress now) { return fail_after_five(s, now); };
  const auto totals = co_await loops::asynchronous(services, play_episode, hooks,
                                                   {.rollouts = 3, .updates = 5, .drain = true});
  CHECK(totals.updates == 5);
  CHECK(totals.failed > 0);
}

task<> failing_update(system& sys) {
  shared s;
  const auto services = co_await serve(sys, s, {.batch = 1, .max_staleness = 1});
  loops::hooks<episode> hooks{.train = [](std::vector<episode>) -> task<std::int64_t> {
                                throw std::runtime_error("no gradient");
                                co_return 0;
                              },
                              .updated = nullptr};
  std::string error;
  try {
    co_await loops::asynchronous(services, play_episode, hooks, {.rollouts = 3, .updates = 5});
  } catch (const std::exception& e) {
    error = e.what();
  }
  CHECK(error == "no gradient");
  const auto begun = s.begun;
  co_await sleep_for(10s);
  CHECK(s.begun == begun);  // the episodes under way have ended with the loop
}

task<> evaluate_only(system& sys) {
  shared s;
  const auto services = co_await serve(sys, s, {});
  int seen = 0;
  std::function<bool(const episode&)> enough = [&](const episode& e) {
    CHECK(e.number == seen + 1);
    return ++seen == 5;
  };
  co_await loops::evaluate(services, play_episode, enough);
  CHECK(seen == 5);
  CHECK(s.begun == 5);
  const auto counts = co_await services.replay.route<&queue::counts>();
  CHECK(counts.inserted == 0);
  // A failed episode is repeated, but not for ever.
  s.fail_every = 6;
  seen = 0;
  enough = [&](const episode&) { return ++seen == 5; };
  co_await loops::evaluate(services, play_episode, enough);
  CHECK(seen == 5);
  CHECK(s.begun == 11);
  s.fail_every = 1;
  const auto error = co_await error_of(loops::evaluate(services, play_episode, enough));
  CHECK_THAT(error, has_text("episode 31 broke down"));
}

int begun_in_all = 0;

/// The replay is all that a fault plan can strike here.
template <bool async>
task<> lose_replay(system& sys) {
  shared s;
  serve_options options{.name = "replay", .max_restarts = 1000, .poison_limit = 1000};
  options.max_retries = 1000;
  options.idempotent = {endpoint<&queue::admit>,   endpoint<&queue::insert>,
                        endpoint<&queue::sample>,  endpoint<&queue::take>,
                        endpoint<&queue::missing>, endpoint<&queue::sample_size>,
                        endpoint<&queue::trained>, endpoint<&queue::close>};
  const replay_options kept{.batch = 3, .max_staleness = async};
  const auto replay = co_await sys.serve<queue>(std::move(options), kept);
  const roles services{replay, &s};
  loops::report totals;
  if (async) {
    totals = co_await loops::asynchronous(services, play_episode, hooks_of(s),
                                          {.rollouts = 2, .updates = 10, .drain = true});
  } else {
    totals = co_await loops::synchronous(services, play_episode, hooks_of(s),
                                         {.batch = 3, .updates = 10});
  }
  CHECK(totals.updates == 10);
  CHECK(s.staleness.size() == 30);
  CHECK(std::ranges::max(s.staleness) <= async);
  CHECK(s.begun >= 30);
  begun_in_all += s.begun;
}

task<> refuse_small_batch(system& sys) {
  shared s;
  const auto services = co_await serve(sys, s, {.batch = 4});
  auto loop = loops::synchronous(services, play_episode, hooks_of(s), {.batch = 3, .updates = 2});
  const auto error = co_await error_of(std::move(loop));
  CHECK_THAT(error, has_text("batch: expected at least 4 episodes") && has_text("got 3"));
  CHECK(s.begun == 0);
}

}  // namespace

TEST_CASE("loops::synchronous: fewer episodes than a sample of the replay are refused at once") {
  play(refuse_small_batch);
}

TEST_CASE("loops: a replay that dies costs the episodes it held, not the loop") {
  log::set_level("off");
  for (std::uint64_t seed : {1, 2, 3, 4, 5}) {
    system sys({.deterministic = true, .seed = seed, .faults = fault_plan::parse("crash=0.05")});
    sys.run(lose_replay<false>(sys));
    system other({.deterministic = true, .seed = seed, .faults = fault_plan::parse("crash=0.05")});
    other.run(lose_replay<true>(other));
  }
  CHECK(begun_in_all > 310);  // several were lost
}

TEST_CASE("loops::synchronous: episodes, then an update with them, in turn") {
  for (std::uint64_t seed : {1, 2, 3}) play(synchronous_order, seed);
}

TEST_CASE("loops::asynchronous: staleness stays within its bound, and is used") {
  log::set_level("off");
  for (const std::int64_t max_staleness : {0, 1, 4}) {
    for (const std::size_t workers : {1u, 2u, 5u}) {
      for (const std::int64_t batch : {1, 3}) {
        INFO("max_staleness " << max_staleness << ", workers " << workers << ", batch " << batch);
        system sys({.deterministic = true, .seed = workers});
        sys.run(stay_in_bound(sys, {max_staleness, workers, batch}));
      }
    }
  }
}

TEST_CASE("loops::asynchronous: more episodes than a replica takes calls at once are no dead end") {
  log::set_level("off");
  const std::size_t workers = serve_options{}.max_ongoing + 6;
  system sys({.deterministic = true, .seed = 1});
  sys.run(stay_in_bound(sys, {1, workers, 3}));
}

TEST_CASE("loops: an episode that throws is generated anew and counted") {
  play(anew<false>);
  play(anew<true>);
}

TEST_CASE("loops: where every episode throws, the loop ends with that error") {
  play(always_fail<false>);
  play(always_fail<true>);
}

TEST_CASE("loops: an error that repeats with other counts is told at every fifth attempt only") {
  const captured_stderr output;
  log::set_level("info");
  system sys({.deterministic = true, .seed = 1});
  sys.run(always_fail<false>(sys));
  log::set_level("off");
  const auto text = output.text();
  std::vector<std::string> told;
  for (auto at = text.find(" attempt="); at != text.npos; at = text.find(" attempt=", at + 1))
    told.push_back(text.substr(at + 9, text.find(' ', at + 1) - at - 9));
  CHECK(told == std::vector<std::string>{"1", "5", "10", "15", "20"});
}

TEST_CASE("loops: errors are alike if they differ in counts and times alone") {
  using loops::detail::without_numbers;
  CHECK(without_numbers("slot 17 of 32: no reply in 60.5 s") ==
        without_numbers("slot 3 of 8: no reply in 60 s"));
  CHECK(without_numbers("server 1 is full") != without_numbers("server 1 is away"));
  CHECK(without_numbers("").empty());
}

TEST_CASE("loops: where a stop is asked for, an episode that throws is not generated anew") {
  play(stop_at_a_failure<false>);
  play(stop_at_a_failure<true>);
  play(stop_at_rest);
}

TEST_CASE("loops::asynchronous: an update that throws ends the loop and its episodes") {
  play(failing_update);
}

TEST_CASE("loops::evaluate: hands on each episode and stores nothing") { play(evaluate_only); }

}  // namespace troupe
