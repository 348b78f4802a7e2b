#include "actors/torch/torch.hpp"

#include "algorithms/loops/warm_up.hpp"

#include "tests/algorithms/loops/toy.hpp"

namespace troupe {
namespace {

using namespace testing;

task<> fill_replay(system& sys) {
  toy_state s;
  s.failing = 3;
  const auto roles = co_await serve_toys(sys, s, {.batch = 4});
  const auto totals = co_await loops::warm_up(roles, play_toy, {.episodes = 20, .rollouts = 6});
  CHECK(totals.episodes == 20);
  CHECK(totals.failed == 3);
  CHECK(totals.updates == 0);
  CHECK(s.begun == 23);
  CHECK(s.most_under_way == 6);
  CHECK(s.under_way == 0);
  CHECK(s.version == 0);  // nobody has trained
  const auto counts = co_await roles.replay.route<&toy_queue::counts>();
  CHECK(counts.inserted == 20);
  CHECK(counts.held == 20);
}

/// The first updates are made of what the warm-up has left.
task<> then_train(system& sys) {
  toy_state scripted, s;
  const auto roles = co_await serve_toys(sys, s, {.batch = 4});
  const toy_roles random{roles.replay, &scripted};
  co_await loops::warm_up(random, play_toy, {.episodes = 4, .rollouts = 2});
  CHECK(s.begun == 0);
  const auto batch = co_await roles.replay.route<&toy_queue::sample>();
  CHECK(batch.size() == 4);
  CHECK(scripted.begun == 4);
}

task<> too_small(system& sys) {
  toy_state s;
  const auto roles = co_await serve_toys(sys, s, {.batch = 1, .capacity = 5});
  loops::warm_up_options options{.episodes = 9, .rollouts = 2, .patience = 30s};
  try {
    co_await loops::warm_up(roles, play_toy, options);
    FAIL("expected an error");
  } catch (const call_error& e) {
    CHECK(e.kind() == error_kind::deadline_exceeded);
  }
  const auto counts = co_await roles.replay.route<&toy_queue::counts>();
  CHECK(counts.held == 5);
  CHECK(s.under_way == 0);
}

task<> stop_in_the_middle(system& sys) {
  toy_state s;
  const auto roles = co_await serve_toys(sys, s, {.batch = 4});
  loops::warm_up_options options{
      .episodes = 20, .rollouts = 2, .stop_asked = [&s] { return s.begun == 6; }};
  try {
    co_await loops::warm_up(roles, play_toy, options);
    FAIL("expected an error");
  } catch (const call_error& e) {
    CHECK(e.kind() == error_kind::cancelled);
  }
  CHECK(s.begun == 6);
  CHECK(s.under_way == 0);
}

task<> refuse_nothing(system& sys) {
  toy_state s;
  const auto roles = co_await serve_toys(sys, s, {});
  const auto error = co_await error_of(loops::warm_up(roles, play_toy, {.episodes = 0}));
  CHECK(error == "warm_up: expected episodes > 0 and rollouts > 0, got 0 and 1");
}

}  // namespace

TEST_CASE("warm_up: fills the replay with exactly as many episodes as asked, before any update") {
  for (std::uint64_t seed : {1, 2, 3}) play(fill_replay, seed);
}

TEST_CASE("warm_up: takes other roles than training, such as a random policy") { play(then_train); }

TEST_CASE("warm_up: a replay that is too small is an error, not an endless wait") {
  play(too_small);
}

TEST_CASE("warm_up: a stop ends it before the next episode") { play(stop_in_the_middle); }

TEST_CASE("warm_up: no episodes are refused") { play(refuse_nothing); }

}  // namespace troupe
