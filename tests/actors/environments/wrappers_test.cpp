#include "actors/environments/wrappers.hpp"

#include <cmath>
#include <limits>

#include "actors/worlds/classic_control/pendulum.hpp"
#include "actors/worlds/registry.hpp"
#include "tests/actors/environments/scripted_environment.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using Catch::Matchers::Contains;
using floats = std::vector<float>;

std::unique_ptr<environment> scripted(scripted_environment::script script = {}) {
  return std::make_unique<scripted_environment>(std::move(script));
}

TEST_CASE("wrappers: frames are shown oldest first, and begin as one", "[env]") {
  frame_stack stacked(scripted(), 3);
  CHECK(to_string(stacked.spec().observation_space) ==
        "Box(-1000000.0, 1000000.0, (3, 2), float32)");
  floats obs(6);
  const std::int64_t left = 0;
  stacked.reset(7, obs);
  CHECK(obs == floats{0, 7, 0, 7, 0, 7});
  stacked.step(action_view(left), obs);
  CHECK(obs == floats{0, 7, 0, 7, 1, 7});
  stacked.step(action_view(left), obs);
  stacked.step(action_view(left), obs);
  CHECK(obs == floats{1, 7, 2, 7, 3, 7});
  stacked.reset(8, obs);
  CHECK(obs == floats{0, 8, 0, 8, 0, 8});
}

TEST_CASE("wrappers: a batch's ended episode leaves no frame to the next", "[env]") {
  vector_env<std::unique_ptr<environment>> batch(
      2, [] { return wrapped(scripted(), {.max_episode_steps = 2, .frames = 2}); });
  batch.reset(5);
  batch.step({.discrete = {0, 0}});
  const auto after = batch.step({.discrete = {0, 0}});
  CHECK(after.truncated == std::vector<std::uint8_t>{1, 1});
  CHECK(after.obs == floats{0, 5, 0, 5, 0, 6, 0, 6});
  REQUIRE(after.finished.size() == 2);
  CHECK(after.finished[0].final_obs == floats{1, 5, 2, 5});
}

TEST_CASE("wrappers: what an environment leaves out shows through its frames", "[env]") {
  bool is_short = false;
  const auto forget = [&](std::int64_t, action_view, std::span<float> obs) {
    if (is_short) obs[1] = std::numeric_limits<float>::infinity();
    return step_result{};
  };
  vector_env<std::unique_ptr<environment>> batch(
      1, [&] { return wrapped(scripted({.on_step = forget}), {.frames = 2}); });
  batch.reset(1);
  CHECK(batch.step({.discrete = {0}}).failures.empty());
  is_short = true;
  const auto after = batch.step({.discrete = {0}});
  REQUIRE(after.failures.size() == 1);
  CHECK(after.failures[0].reason == env_failure_reason::nonfinite);
  is_short = false;
  CHECK(batch.step({.discrete = {0}}).failures.empty());
}

TEST_CASE("wrappers: rescaled actions reach the bounds from -1 and 1", "[env]") {
  floats seen, obs(2);
  rescale_action rescaled(
      scripted({.action_space = spaces::box({-2, 0}, {2, 10}),
                .on_step = [&](std::int64_t, action_view action, std::span<float>) {
                  seen.assign(action.continuous().begin(), action.continuous().end());
                  return step_result{};
                }}));
  CHECK(to_string(rescaled.spec().action_space) == "Box(-1.0, 1.0, (2,), float32)");
  rescaled.reset(1, obs);
  const auto stretched = [&](floats action) {
    rescaled.step(action_view(std::span<const float>(action)), obs);
    return seen;
  };
  CHECK(stretched({-1, -1}) == floats{-2, 0});
  CHECK(stretched({1, 1}) == floats{2, 10});
  CHECK(stretched({0.5F, -0.5F}) == floats{1, 2.5F});
  CHECK(stretched({3, -3}) == floats{2, 0});
}

TEST_CASE("wrappers: the registry wraps what it makes", "[env]") {
  const auto wrapped_one = make_vector_environment(
      {.id = "Pendulum-v1",
       .wrappers = {.max_episode_steps = 3, .frames = 2, .rescale_actions = true}},
      2);
  const auto plain = make_vector_environment("Pendulum-v1", 2);
  const auto spec = wrapped_one->spec();
  CHECK(spec.id == "Pendulum-v1");
  CHECK(spec.max_episode_steps == 3);
  CHECK(to_string(spec.action_space) == "Box(-1.0, 1.0, (1,), float32)");
  CHECK(spec.observation_space.flat_size() == 6);
  wrapped_one->reset(3);
  plain->reset(3);
  const auto ours = wrapped_one->step({.discrete = {}, .continuous = {0.5F, -1}});
  const auto theirs = plain->step({.discrete = {}, .continuous = {1, -2}});
  CHECK(ours.reward == theirs.reward);
  CHECK(floats(ours.obs.begin() + 3, ours.obs.begin() + 6) ==
        floats(theirs.obs.begin(), theirs.obs.begin() + 3));
  CHECK(make_vector_environment({.id = "Pendulum-v1", .wrappers = {}}, 1)->spec() ==
        pendulum().spec());
  register_vector_environment(
      "Batch-v0", [](std::size_t size) { return std::make_unique<vector_env<pendulum>>(size); });
  CHECK_THROWS_WITH(make_vector_environment({.id = "Batch-v0", .wrappers = {.frames = 2}}, 1),
                    "Batch-v0: expected no wrappers, for it is registered as a batch");
}

TEST_CASE("wrappers: wrapped environments are saved and go on", "[env]") {
  const wrapper_options wrappers{.max_episode_steps = 7, .frames = 3, .rescale_actions = true};
  auto one = make_vector_environment({.id = "MountainCarContinuous-v0", .wrappers = wrappers}, 2);
  auto other = make_vector_environment({.id = "MountainCarContinuous-v0", .wrappers = wrappers}, 2);
  one->reset(3);
  const env_actions actions{.discrete = {}, .continuous = {0.25F, -0.75F}};
  for (int t = 0; t < 4; ++t) one->step(actions);
  other->restore(*one->save());
  for (int t = 0; t < 10; ++t) CHECK(one->step(actions).obs == other->step(actions).obs);
}

TEST_CASE("wrappers: what can't be wrapped is named", "[env]") {
  CHECK_THROWS_WITH(frame_stack(scripted(), 0), "Scripted-v0: expected at least 1 frame, got 0");
  CHECK_THROWS_WITH(rescale_action(scripted()),
                    "Scripted-v0: expected a Box to rescale actions, got Discrete(2)");
  CHECK_THROWS_WITH(time_limit(scripted(), 0),
                    "Scripted-v0: expected a time limit of at least 1 step, got 0");
  const float infinite = std::numeric_limits<float>::infinity();
  CHECK_THROWS_WITH(rescale_action(scripted({.action_space = spaces::box(0.0F, infinite, {1})})),
                    "Scripted-v0: expected finite bounds to rescale actions, got Box(0.0, inf, "
                    "(1,), float32)");
  CHECK_THROWS_WITH(make_vector_environment({.id = "Blackjack-v1", .wrappers = {.frames = 2}}, 1),
                    Catch::Contains("Blackjack-v1: expected a Box to stack, got Tuple"));
}

/// An environment whose steps give the rewards 1, 2, 3, ..., of which the third terminates.
std::unique_ptr<environment> counting() {
  return scripted({.on_step = [](std::int64_t step, action_view, std::span<float>) {
    return step_result{.reward = double(step), .terminated = step == 3};
  }});
}

TEST_CASE("wrappers: rewards are scaled, then clipped", "[env]") {
  scale_reward scaled(counting(), -2, 5);
  floats obs(2);
  const std::int64_t left = 0;
  scaled.reset(1, obs);
  CHECK(scaled.step(action_view(left), obs).reward == -2);
  CHECK(scaled.step(action_view(left), obs).reward == -4);
  CHECK(scaled.step(action_view(left), obs).reward == -5);
  CHECK_THROWS_WITH(scale_reward(counting(), 1, 0.0), Contains("c > 0, got 0"));
  CHECK_THROWS_WITH(scale_reward(counting(), std::nan(""), {}), Contains("a finite factor"));
  const auto threshold = [](const wrapper_options& options) {
    return make_environment({.id = "CartPole-v1", .wrappers = options})->spec().reward_threshold;
  };
  CHECK(threshold({.reward_scale = 0.5}) == 475 * 0.5);
  CHECK(threshold({.reward_clip = 1}) == std::nullopt);
}

TEST_CASE("wrappers: a potential's differences sum up to that of the first state", "[env]") {
  // The first number of the observation is that of the step.
  const auto potential = [](std::span<const float> obs) { return 10.0 + obs[0]; };
  shape_reward shaped(counting(), potential, 0.5);
  floats obs(2);
  const std::int64_t left = 0;
  shaped.reset(1, obs);
  CHECK(shaped.step(action_view(left), obs).reward == 1 + 0.5 * 11 - 10);
  state_writer half_way;
  const bool saved = shaped.save(half_way);
  CHECK(shaped.step(action_view(left), obs).reward == 2 + 0.5 * 12 - 11);
  CHECK(shaped.step(action_view(left), obs).reward ==
        3 - 12.0);  // a terminal state has potential 0
  CHECK_FALSE(saved);
  CHECK(shaped.spec().reward_threshold == std::nullopt);
}

TEST_CASE("wrappers: what a wrapper doesn't change reaches the environment", "[env]") {
  class told final : public environment_wrapper {
   public:
    explicit told(std::string& to) : environment_wrapper(counting()), to_(to) {}
    episode_info info() const override { return {{"keys", 3}}; }
    void set_options(const std::string& json) override { to_ += json; }
    void set_attr(const std::string& name, const std::string& json) override { to_ += name + json; }

   private:
    std::string& to_;
  };
  std::string heard;
  scale_reward outer(std::make_unique<told>(heard), 2, {});
  CHECK(outer.info() == episode_info{{"keys", 3}});
  outer.set_options("{}");
  outer.set_attr("size", "5");
  CHECK(heard == "{}size5");
  CHECK_THROWS_WITH(counting()->set_attr("size", "5"), Contains("got \"size\""));
  CHECK_THROWS_WITH(counting()->set_options(R"({"a": 1})"), Contains("expected no reset options"));
}

}  // namespace
}  // namespace troupe
