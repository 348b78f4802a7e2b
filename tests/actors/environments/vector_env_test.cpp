#include "actors/environments/vector_env.hpp"

#include "actors/worlds/classic_control/cartpole.hpp"
#include "tests/actors/environments/scripted_environment.hpp"
#include "tests/test.hpp"

using namespace troupe;

namespace {

using flags = std::vector<std::uint8_t>;
using floats = std::vector<float>;

vector_env<scripted_environment> scripted(std::size_t size,
                                          const scripted_environment::script& script) {
  return {size, [script] { return scripted_environment(script); }};
}

env_actions zeros(std::size_t count) { return {.discrete = std::vector<std::int64_t>(count, 0)}; }

}  // namespace

TEST_CASE("vector_env: environment i is seeded with seed + i", "[env]") {
  vector_env<cartpole> batch(3);
  const auto all = batch.reset(7).obs;
  REQUIRE(all.size() == 12);
  for (std::uint64_t i = 0; i < 3; ++i) {
    cartpole alone;
    floats obs(4);
    alone.reset(7 + i, obs);
    CHECK(floats(all.begin() + static_cast<std::ptrdiff_t>(4 * i),
                 all.begin() + static_cast<std::ptrdiff_t>(4 * i + 4)) == obs);
  }
}

TEST_CASE("vector_env: a reset without a seed goes on with the generators", "[env]") {
  vector_env<cartpole> batch(2), same(2);
  const auto first = batch.reset(7).obs;
  const auto second = batch.reset(std::nullopt).obs;
  CHECK(first != second);
  CHECK(same.reset(7).obs == first);
  CHECK(same.reset(std::nullopt).obs == second);
}

TEST_CASE("vector_env: an ended episode leaves its last observation and begins the next", "[env]") {
  auto batch = scripted(2, {.on_step = [](std::int64_t t, action_view action, std::span<float>) {
                          return step_result{.reward = 0.5 * static_cast<double>(t),
                                             .terminated = action.discrete() == 1};
                        }});
  batch.reset(10);
  batch.step(zeros(2));
  const auto after = batch.step({.discrete = {0, 1}});
  CHECK(after.terminated == flags{0, 1});
  CHECK(after.truncated == flags{0, 0});
  CHECK(after.reward == std::vector<double>{1.0, 1.0});
  CHECK(after.obs == floats{2, 10, 0, 11});
  REQUIRE(after.finished.size() == 1);
  CHECK(after.finished[0].index == 1);
  CHECK(after.finished[0].episode_return == 1.5);
  CHECK(after.finished[0].length == 2);
  CHECK(after.finished[0].final_obs == floats{2, 11});
  CHECK(batch.step(zeros(2)).obs == floats{3, 10, 1, 11});
}

TEST_CASE("vector_env: the time limit truncates, and both flags may be set at once", "[env]") {
  auto batch = scripted(
      2,
      {.max_episode_steps = 3, .on_step = [](std::int64_t t, action_view action, std::span<float>) {
         return step_result{.reward = 1, .terminated = t == 3 && action.discrete() == 1};
       }});
  batch.reset(0);
  for (int episode = 0; episode < 2; ++episode) {
    for (int t = 1; t < 3; ++t) CHECK(batch.step(zeros(2)).finished.empty());
    const auto end = batch.step({.discrete = {0, 1}});
    CHECK(end.terminated == flags{0, 1});
    CHECK(end.truncated == flags{1, 1});
    REQUIRE(end.finished.size() == 2);
    CHECK(end.finished[0].length == 3);
  }
}

TEST_CASE("vector_env: an environment may truncate by itself", "[env]") {
  auto batch = scripted(1, {.on_step = [](std::int64_t, action_view, std::span<float>) {
                          return step_result{.truncated = true};
                        }});
  batch.reset(0);
  const auto after = batch.step(zeros(1));
  CHECK(after.terminated == flags{0});
  CHECK(after.truncated == flags{1});
  CHECK(after.finished.size() == 1);
}

TEST_CASE("vector_env: environments see box actions clipped to the bounds", "[env]") {
  floats seen;
  auto batch = scripted(1, {.action_space = spaces::box({-1, -2}, {1, 2}),
                            .on_step = [&](std::int64_t, action_view action, std::span<float>) {
                              seen.assign(action.continuous().begin(), action.continuous().end());
                              return step_result{};
                            }});
  batch.reset(0);
  batch.step({.continuous = {0.5F, -7}});
  CHECK(seen == floats{0.5F, -2});
  CHECK_THROWS_WITH(batch.step({.continuous = {0, std::numeric_limits<float>::quiet_NaN()}}),
                    "Scripted-v0: expected finite actions, got nan for environment 0");
}

TEST_CASE("vector_env: a box action of several dimensions arrives in rows", "[env]") {
  std::vector<floats> seen;
  const spaces::box bounds(-1, 1, {2, 3});
  auto batch = scripted(
      2,
      {.action_space = bounds, .on_step = [&](std::int64_t, action_view action, std::span<float>) {
         seen.emplace_back(action.continuous().begin(), action.continuous().end());
         return step_result{};
       }});
  batch.reset(0);
  batch.step({.continuous = {0, 1, 2, 3, 4, 5, -0.5F, -1, -1.5F, -2, -2.5F, 0}});
  CHECK(seen == std::vector<floats>{{0, 1, 1, 1, 1, 1}, {-0.5F, -1, -1, -1, -1, 0}});
  CHECK_THROWS_WITH(batch.step({.continuous = {0, 1, 2, 3, 4, 5}}),
                    Catch::Contains("expected 12 continuous numbers (2 environments, 6 each"));
}

TEST_CASE("vector_env: parts of multi-discrete actions arrive in rows", "[env]") {
  std::vector<std::int64_t> seen;
  auto batch = scripted(2, {.action_space = spaces::multi_discrete({3, 2}),
                            .on_step = [&](std::int64_t, action_view action, std::span<float>) {
                              for (auto part : action.parts()) seen.push_back(part);
                              return step_result{};
                            }});
  batch.reset(0);
  batch.step({.discrete = {2, 0, 1, 1}});
  CHECK(seen == std::vector<std::int64_t>{2, 0, 1, 1});
  CHECK_THROWS_AS(batch.step({.discrete = {2, 2, 1, 1}}), wrong_actions);
}

TEST_CASE("vector_env: a tuple's integers and floats arrive in rows, each kind in order", "[env]") {
  std::vector<std::int64_t> integers;
  floats seen;
  const spaces::tuple actions(
      {spaces::box(-1, 1, {1}), spaces::multi_binary(1),
       spaces::dict({{"b", spaces::box(0, 1, {1})}, {"a", spaces::discrete(3, 5)}})});
  auto batch = scripted(
      2,
      {.action_space = actions, .on_step = [&](std::int64_t, action_view action, std::span<float>) {
         integers.insert(integers.end(), action.parts().begin(), action.parts().end());
         seen.insert(seen.end(), action.continuous().begin(), action.continuous().end());
         return step_result{};
       }});
  batch.reset(0);
  batch.step({.discrete = {1, 5, 0, 7}, .continuous = {-2, 0.5F, 1, -1}});
  CHECK(integers == std::vector<std::int64_t>{1, 5, 0, 7});
  CHECK(seen == floats{-1, 0.5F, 1, 0});
  CHECK_THROWS_WITH(
      batch.step({.discrete = {1, 5, 0, 8}, .continuous = {0, 0, 0, 0}}),
      Catch::Contains("expected actions in Tuple(") && Catch::Contains("got 8 for environment 1"));
  CHECK_THROWS_WITH(batch.step({.discrete = {1, 5, 0, 7}}),
                    Catch::Contains("expected 4 continuous numbers (2 environments, 2 each"));
  CHECK_THROWS_WITH(batch.step({.discrete = {1, 5}, .continuous = {0, 0, 0, 0}}),
                    Catch::Contains("expected 4 discrete numbers (2 environments, 2 each"));
}

TEST_CASE("vector_env: actions that do not fit are refused before any step", "[env]") {
  vector_env<cartpole> batch(3);
  batch.reset(1);
  CHECK_THROWS_WITH(batch.step(zeros(2)),
                    "CartPole-v1: expected 3 discrete numbers (3 environments, 1 each, "
                    "Discrete(2)), got 2 (and 0 of the other kind)");
  CHECK_THROWS_AS(batch.step({.continuous = {0, 0, 0}}), wrong_actions);
  CHECK_THROWS_WITH(batch.step({.discrete = {0, 0, 2}}),
                    "CartPole-v1: expected actions in Discrete(2), got 2 for environment 2");
  vector_env<cartpole> untouched(3);
  untouched.reset(1);
  CHECK(batch.step(zeros(3)).obs == untouched.step(zeros(3)).obs);
}

TEST_CASE("vector_env: a step before the first reset is refused", "[env]") {
  vector_env<cartpole> batch(1);
  CHECK_THROWS_WITH(batch.step(zeros(1)),
                    "CartPole-v1: expected a reset before the first step, got none");
}

TEST_CASE("vector_env: what can't be batched is refused when it is made", "[env]") {
  CHECK_THROWS_WITH(vector_env<cartpole>(0),
                    "CartPole-v1: expected a batch of at least 1 environment, got 0");
  CHECK_THROWS_WITH(scripted(1, {.action_space = spaces::text(3, 1, "ab")}),
                    "Scripted-v0: expected an action space of kind Box, Discrete, MultiDiscrete or "
                    "MultiBinary, or a Tuple or Dict of these, got Text(1, 3, charset=ab)");
  CHECK_THROWS_WITH(scripted(1, {.max_episode_steps = 0}),
                    "Scripted-v0: expected max_episode_steps >= 1, got 0");
}

TEST_CASE("vector_env: environments held by pointer step as those held by value", "[env]") {
  vector_env<cartpole> by_value(4);
  vector_env<std::unique_ptr<environment>> by_pointer(4,
                                                      [] { return std::make_unique<cartpole>(); });
  CHECK(by_value.spec() == by_pointer.spec());
  CHECK(by_value.reset(3).obs == by_pointer.reset(3).obs);
  for (int t = 0; t < 100; ++t) {
    const env_actions actions{.discrete = {0, 1, t % 2, 1 - t % 2}};
    const auto a = by_value.step(actions);
    const auto b = by_pointer.step(actions);
    REQUIRE(a.obs == b.obs);
    REQUIRE(a.terminated == b.terminated);
    REQUIRE(a.finished.size() == b.finished.size());
  }
}

TEST_CASE("vector_env: a step and a reset have their allowances, also a reset that a step makes",
          "[env]") {
  static std::vector<duration> noted;
  auto batch = scripted(3, {.on_step = [](std::int64_t, action_view action, std::span<float>) {
                          return step_result{.terminated = action.discrete() == 1};
                        }});
  const auto take = [] { return std::exchange(noted, {}); };
  const duration step = std::chrono::seconds(1), reset = std::chrono::seconds(5);
  batch.set_allowances({.step = step, .reset = reset, .note_progress = [](duration given) {
                          noted.push_back(given);
                        }});
  batch.reset(0);
  CHECK(take() == std::vector{reset});
  batch.step(zeros(3));
  CHECK(take() == std::vector{step});
  batch.step({.discrete = {0, 1, 0}});
  CHECK(take() == std::vector{step, reset, step});
}
