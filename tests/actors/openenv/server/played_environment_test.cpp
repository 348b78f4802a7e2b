#include "actors/openenv/server/played_environment.hpp"

#include <cmath>

#include "actors/worlds/registry.hpp"
#include "tests/actors/environments/scripted_environment.hpp"
#include "tests/test.hpp"

namespace troupe::openenv_server {
namespace {

using Catch::Matchers::StartsWith;

std::vector<float> floats(std::span<const float> of) { return {of.begin(), of.end()}; }

std::unique_ptr<vector_environment> one_of(scripted_environment::script script) {
  return std::make_unique<vector_env<scripted_environment>>(
      1, [script] { return scripted_environment(script); });
}

TEST_CASE("played environment: resets without a seed go on as Gymnasium's do") {
  // The same environment, driven by hand: reset(3), an episode, reset().
  auto hand = make_vector_environment("CartPole-v1", 1);
  auto shown = hand->reset(3);
  played_environment played(make_vector_environment("CartPole-v1", 1));
  CHECK(floats(played.reset(3).obs) == shown.obs);
  for (bool ended = false; !ended;) {
    const auto step = hand->step({.discrete = {1}});
    env_actions action{.discrete = {1}};
    const auto seen = played.step(action);
    ended = step.terminated[0];
    CHECK(seen.terminated == ended);
    CHECK(seen.reward == step.reward[0]);
    CHECK(floats(seen.obs) == (ended ? step.finished[0].final_obs : step.obs));
    shown.obs = step.obs;
  }
  const auto next = played.reset({});
  CHECK(floats(next.obs) == shown.obs);
  CHECK_FALSE(next.reward.has_value());
  CHECK_FALSE(next.done());
  CHECK(floats(played.reset(3).obs) == hand->reset(3).obs);
}

TEST_CASE("played environment: steps need an episode") {
  played_environment played(one_of({.max_episode_steps = 1}));
  env_actions action{.discrete = {0}};
  CHECK_THROWS_WITH(played.step(action), "step: expected a reset before the first step");
  played.reset({});
  const auto seen = played.step(action);
  CHECK(seen.truncated);
  CHECK_FALSE(seen.terminated);
  CHECK_THROWS_WITH(played.step(action), "step: the episode has ended; expected a reset");
  played.reset({});
  CHECK(played.step(action).done());
}

TEST_CASE("played environment: what fails costs the episode, not the session") {
  int steps = 0;
  played_environment played(one_of({.on_step = [&](auto, auto, auto) -> step_result {
    if (++steps == 2) throw std::runtime_error("out of fuel");
    if (steps == 4) return {.reward = NAN};
    return {.reward = 1};
  }}));
  env_actions action{.discrete = {0}};
  played.reset({});
  played.step(action);
  CHECK_THROWS_WITH(played.step(action), StartsWith("Scripted-v0: out of fuel"));
  CHECK_THROWS_WITH(played.step(action), "step: the episode has ended; expected a reset");
  played.reset({});
  played.step(action);
  CHECK_THROWS_AS(played.step(action), execution_error);
  CHECK(floats(played.reset(9).obs) == std::vector<float>{0, 9});
}

TEST_CASE("played environment: a seed that could not be kept is no reset") {
  int resets = 0;
  played_environment played(one_of({.on_reset = [&](auto) {
    if (++resets == 1) throw std::runtime_error("no dice");
  }}));
  CHECK_THROWS_WITH(played.reset(5), StartsWith("Scripted-v0: no dice"));
  CHECK(floats(played.reset(5).obs) == std::vector<float>{0, 5});
}

}  // namespace
}  // namespace troupe::openenv_server
