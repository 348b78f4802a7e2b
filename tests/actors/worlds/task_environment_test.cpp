#include "actors/worlds/task_environment.hpp"

#include "actors/environments/hosted_environment.hpp"
#include "actors/environments/vector_env.hpp"
#include "actors/worlds/classic_control/acrobot.hpp"
#include "actors/worlds/classic_control/cartpole.hpp"
#include "actors/worlds/classic_control/pendulum.hpp"
#include "actors/worlds/pixels/pixel_catch.hpp"
#include "tests/actors/environments/scripted_environment.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using floats = std::vector<float>;
using indices = std::vector<std::size_t>;

/// Shows its level and the steps since the reset; an episode ends after two steps, a success if the
/// action was 1.
class staircase final : public environment {
 public:
  env_spec spec() const override {
    return {.id = "Staircase-v0",
            .observation_space = spaces::box(0.0f, 1e6f, {2}),
            .action_space = spaces::discrete(2),
            .levels = 3};
  }
  void set_level(std::size_t level) override { level_ = level; }
  void reset(std::optional<std::uint64_t>, std::span<float> obs) override {
    steps_ = 0;
    show(obs);
  }
  step_result step(action_view action, std::span<float> obs) override {
    ++steps_;
    show(obs);
    return {.reward = 1, .truncated = steps_ == 2, .success = action.discrete() == 1};
  }
  bool save(state_writer& to) const override { return to.put("steps", steps_), true; }
  void restore(const state_reader& from) override { from.get("steps", steps_); }

 private:
  void show(std::span<float> obs) const {
    obs[0] = static_cast<float>(level_);
    obs[1] = static_cast<float>(steps_);
  }
  std::size_t level_ = 7;
  std::int64_t steps_ = 0;
};

std::unique_ptr<vector_environment> two_staircases() {
  return std::make_unique<vector_env<staircase>>(2);
}

env_actions each(std::int64_t action, std::size_t count) {
  env_actions actions;
  actions.discrete.assign(count, action);
  return actions;
}

/// The level that each of two staircases shows.
floats levels_in(const recycled_vector<float>& obs) { return {obs[0], obs[2]}; }

/// A task that shows `width` numbers of its own and has `actions` actions; the action is the
/// reward.
std::unique_ptr<environment> task_of(std::int64_t width, space actions, std::int64_t limit) {
  class shown final : public environment {
   public:
    explicit shown(env_spec spec) : spec_(std::move(spec)) {}
    env_spec spec() const override { return spec_; }
    void reset(std::optional<std::uint64_t>, std::span<float> obs) override {
      std::ranges::fill(obs, 5.0f);
    }
    step_result step(action_view action, std::span<float> obs) override {
      std::ranges::fill(obs, 6.0f);
      if (!spec_.action_space.get_if<spaces::box>()) {
        return {.reward = static_cast<double>(action.discrete())};
      }
      double sum = 0;
      for (const float number : action.continuous()) sum += number;
      return {.reward = sum};
    }

   private:
    env_spec spec_;
  };
  return std::make_unique<shown>(env_spec{.id = "Shown-v0",
                                          .observation_space = spaces::box(0.0f, 9.0f, {width}),
                                          .action_space = std::move(actions),
                                          .max_episode_steps = limit});
}

task_environment two_tasks(std::unique_ptr<environment> one, std::unique_ptr<environment> other) {
  std::vector<std::unique_ptr<environment>> parts;
  parts.push_back(std::move(one));
  parts.push_back(std::move(other));
  return task_environment({{.name = "one"}, {.name = "other"}}, std::move(parts));
}

/// 2 numbers and 2 actions for 3 steps; 3 numbers and 4 actions for 5.
task_environment narrow_and_wide() {
  return two_tasks(task_of(2, spaces::discrete(2), 3), task_of(3, spaces::discrete(4), 5));
}

floats shown_after_reset(task_environment& of, std::size_t task) {
  floats obs(of.spec().observation_space.flat_size(), -1.0f);
  of.set_task(task);
  of.reset(1, obs);
  return obs;
}

}  // namespace

TEST_CASE("levels: environments that nobody tells are at the last") {
  hosted_environment hosted({}, two_staircases, 5);
  CHECK(levels_in(hosted.observe().rows) == floats{2, 2});
}

TEST_CASE("levels: a level is that of the episodes that begin from then on") {
  hosted_environment hosted({}, two_staircases, 5);
  hosted.set_level(0);
  CHECK(levels_in(hosted.observe().rows) == floats{0, 0});
  hosted.set_level(1);
  CHECK(levels_in(hosted.step(each(1, 2)).obs) == floats{0, 0});
  const auto ended = hosted.step({.discrete = {1, 0}, .continuous = {}});
  CHECK(levels_in(ended.obs) == floats{1, 1});
  const std::vector<graded_episode> expected{
      {.level = 0, .success = true, .task = 0, .episode_return = 2},
      {.level = 0, .success = false, .task = 0, .episode_return = 2}};
  CHECK(hosted.take_graded() == expected);
  CHECK(hosted.take_graded().empty());
}

TEST_CASE("levels: what is saved has the level under way, that of the next, and the grades") {
  hosted_environment before({}, two_staircases, 5), after({}, two_staircases, 5);
  before.set_level(0);
  before.observe();
  before.step(each(1, 2));
  before.set_level(1);
  before.step(each(1, 2));  // ends episodes of level 0 and begins those of level 1
  before.set_level(2);
  after.restore(before.save());
  CHECK(after.take_graded() == before.take_graded());
  CHECK(levels_in(after.step(each(1, 2)).obs) == floats{1, 1});
  CHECK(levels_in(after.step(each(1, 2)).obs) == floats{2, 2});
  CHECK(after.take_graded().front().level == 1);
}

TEST_CASE("levels: without a word of success an episode was one if it terminated") {
  std::int64_t episode = 0;
  const auto make = [&] {
    return std::make_unique<vector_env<std::unique_ptr<environment>>>(1, [&] {
      return std::make_unique<scripted_environment>(scripted_environment::script{
          .max_episode_steps = 4, .on_step = [&](std::int64_t t, auto, auto) -> step_result {
            return {.terminated = t == 2 && episode++ == 0};
          }});
    });
  };
  auto environments = make();
  environments->reset(1);
  std::vector<bool> successes;
  for (int t = 0; t < 6; ++t)
    for (const auto& ended : environments->step(each(0, 1)).finished)
      successes.push_back(ended.success);
  CHECK(successes == std::vector{true, false});
}

TEST_CASE("levels: one that is not there is refused by the environment's name") {
  hosted_environment hosted({}, two_staircases, 5);
  CHECK_THROWS_WITH(hosted.set_level(3), "Staircase-v0: expected a level below 3, got 3");
  CHECK_THROWS_WITH(hosted.set_turns({0}, 1), "Staircase-v0: expected a task below 0, got 0");
}

TEST_CASE("task_environment: observations are padded with zeros and tell the task") {
  auto tasks = narrow_and_wide();
  CHECK(tasks.spec().observation_space.flat_size() == 5);
  CHECK(tasks.spec().id == "one+other");
  CHECK(shown_after_reset(tasks, 0) == floats{5, 5, 0, 1, 0});
  CHECK(shown_after_reset(tasks, 1) == floats{5, 5, 5, 0, 1});
  floats obs(5, -1.0f);
  const std::int64_t action = 0;
  tasks.step(action_view(action), obs);
  CHECK(obs == floats{6, 6, 6, 0, 1});
}

TEST_CASE("task_environment: a discrete action that a task does not have is its last") {
  auto tasks = narrow_and_wide();
  CHECK(tasks.spec().action_space == space(spaces::discrete(4)));
  floats obs(5);
  for (const std::size_t task : {0, 1}) {
    tasks.set_task(task);
    tasks.reset(std::nullopt, obs);
    const std::int64_t action = 3;
    CHECK(tasks.step(action_view(action), obs).reward == (task == 0 ? 1 : 3));
  }
}

TEST_CASE("task_environment: a task takes the first numbers of a box action, in its own bounds") {
  auto tasks = two_tasks(task_of(2, spaces::box(-1.0f, 1.0f, {1}), 9),
                         task_of(2, spaces::box(-3.0f, 2.0f, {2}), 9));
  CHECK(tasks.spec().action_space == space(spaces::box(floats{-3, -3}, floats{2, 2})));
  const floats action{1.75f, 0.5f};
  floats obs(4);
  for (const std::size_t task : {0, 1}) {
    tasks.set_task(task);
    tasks.reset(std::nullopt, obs);
    const auto result = tasks.step(action_view(std::span<const float>(action)), obs);
    CHECK(result.reward == (task == 0 ? 1 : 2.25));
  }
}

TEST_CASE("task_environment: each task has its own time limit") {
  auto tasks = narrow_and_wide();
  CHECK(!tasks.spec().max_episode_steps);
  floats obs(5);
  const std::int64_t action = 0;
  for (const auto& [task, limit] : {std::pair(0u, 3), {1u, 5}}) {
    tasks.set_task(task);
    tasks.reset(std::nullopt, obs);
    int steps = 1;
    while (!tasks.step(action_view(action), obs).truncated) ++steps;
    CHECK(steps == limit);
  }
}

TEST_CASE("task_environment: what can't be padded to one shape is refused by name") {
  const auto with_cartpole = [](std::unique_ptr<environment> other) {
    return two_tasks(std::make_unique<cartpole>(), std::move(other));
  };
  CHECK_THROWS_WITH(with_cartpole(std::make_unique<pendulum>()),
                    "Pendulum-v1: expected actions of the kind that CartPole-v1 has, as one of "
                    "several tasks, got Box(-2.0, 2.0, (1,), float32)");
  CHECK_THROWS_WITH(with_cartpole(std::make_unique<pixel_catch>()),
                    Catch::StartsWith("Catch-v0: expected observations that are no images"));
  CHECK_THROWS_WITH(with_cartpole(task_of(2, spaces::multi_discrete({2, 2}), 3)),
                    Catch::Contains("expected actions that are Discrete, from 0, or Box"));
}

TEST_CASE("task_environment: without turns environment i plays task i modulo their number") {
  const auto many =
      make_task_environments({{.name = "CartPole-v1"}, {.name = "Acrobot-v1"}}, 3, {});
  const auto obs = many->reset(1).obs;
  REQUIRE(obs.size() == 3 * 8);
  CHECK(floats{obs[6], obs[7], obs[14], obs[15], obs[22], obs[23]} == floats{1, 0, 0, 1, 1, 0});
}

TEST_CASE("task_environment: replicas share the turns, and begin them again at the end") {
  const auto make = [] {
    return make_task_environments({{.name = "CartPole-v1"}, {.name = "Acrobot-v1"}}, 1,
                                  {.wrappers = {.max_episode_steps = 1}});
  };
  for (const auto& [replica, expected] :
       {std::pair(0u, indices{0, 1, 0, 0}), {1u, indices{1, 1, 0, 1}}}) {
    CAPTURE(replica);
    hosted_environment hosted({.index = replica}, make, 5);
    hosted.set_turns({0, 1, 1, 1, 0, 0}, 2);  // 0 1 0 of the first, 1 1 0 of the second
    indices played;
    while (played.size() < 4) {
      hosted.step(each(0, 1));
      for (const auto& ended : hosted.take_graded()) played.push_back(ended.task);
    }
    CHECK(played == expected);
  }
}

TEST_CASE("task_environment: goes on from its saved state as if nothing had happened") {
  const auto make = [] {
    return make_task_environments({{.name = "CartPole-v1"}, {.name = "Acrobot-v1"}}, 3,
                                  {.wrappers = {.max_episode_steps = 7}});
  };
  const auto whole = make(), restored = make();
  whole->reset(3);
  whole->set_turns({1, 0, 0});
  for (int t = 0; t < 25; ++t) whole->step(each(t % 3, 3));
  restored->restore(whole->save().value());
  for (int t = 0; t < 25; ++t) {
    const auto one = whole->step(each(t % 3, 3)), other = restored->step(each(t % 3, 3));
    REQUIRE(floats(one.obs.begin(), one.obs.end()) == floats(other.obs.begin(), other.obs.end()));
    REQUIRE(one.finished.size() == other.finished.size());
    for (std::size_t i = 0; i < one.finished.size(); ++i)
      CHECK(one.finished[i].task == other.finished[i].task);
  }
}

}  // namespace troupe
