// What happens when an environment breaks its contract.

#include <cmath>
#include <limits>
#include <memory>

#include "actors/environments/vector_env.hpp"
#include "tests/actors/environments/scripted_environment.hpp"
#include "tests/test.hpp"

using namespace troupe;

namespace {

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();

using flags = std::vector<std::uint8_t>;
using floats = std::vector<float>;
using step_function = decltype(scripted_environment::script::on_step);

// Two environments of which the action 1 makes one do what `broken` does; the others behave.
vector_env<scripted_environment> breakable(step_function broken) {
  scripted_environment::script script{
      .on_step = [broken](std::int64_t t, action_view action, std::span<float> obs) {
        return action.discrete() == 1 ? broken(t, action, obs) : step_result{.reward = 1};
      }};
  return {2, [script] { return scripted_environment(script); }};
}

// The second step of environment 0 breaks; what comes of it is checked, and that both go on.
env_failure break_the_first(vector_env<scripted_environment>& batch) {
  batch.reset(10);
  batch.step({.discrete = {0, 0}});
  const auto after = batch.step({.discrete = {1, 0}});
  REQUIRE(after.failures.size() == 1);
  CHECK(after.failures[0].index == 0);
  CHECK(after.failures[0].id == "Scripted-v0");
  CHECK_FALSE(after.failures[0].at_reset);
  CHECK(after.obs == floats{0, 10, 2, 11});
  CHECK(after.reward == std::vector<double>{0, 1});
  CHECK(after.terminated == flags{0, 0});
  CHECK(after.truncated == flags{0, 0});
  CHECK(after.finished.empty());
  const auto next = batch.step({.discrete = {0, 0}});
  CHECK(next.failures.empty());
  CHECK(next.obs == floats{1, 10, 3, 11});
  return after.failures[0];
}

}  // namespace

TEST_CASE("env_failure: an exception in a step drops that episode only", "[env]") {
  auto batch = breakable([](std::int64_t, action_view, std::span<float>) -> step_result {
    throw std::runtime_error("the wheel came off");
  });
  const auto failure = break_the_first(batch);
  CHECK(failure.reason == env_failure_reason::threw);
  CHECK(failure.message == "the wheel came off");
}

TEST_CASE("env_failure: something thrown that is no std::exception is reported too", "[env]") {
  auto batch =
      breakable([](std::int64_t, action_view, std::span<float>) -> step_result { throw 3; });
  const auto failure = break_the_first(batch);
  CHECK(failure.reason == env_failure_reason::threw);
  CHECK(failure.message == "an exception that is no std::exception");
}

TEST_CASE("env_failure: a NaN observation is named with its element", "[env]") {
  auto batch = breakable([](std::int64_t, action_view, std::span<float> obs) {
    obs[1] = not_a_number;
    return step_result{.reward = 1, .terminated = true};
  });
  const auto failure = break_the_first(batch);
  CHECK(failure.reason == env_failure_reason::nonfinite);
  CHECK(failure.message == "expected a finite observation, got nan as element 1");
}

TEST_CASE("env_failure: a reward that is not finite drops the episode", "[env]") {
  const double reward = GENERATE(as<double>(), infinite, -infinite, std::nan(""));
  auto batch = breakable([reward](std::int64_t, action_view, std::span<float>) {
    return step_result{.reward = reward};
  });
  const auto failure = break_the_first(batch);
  CHECK(failure.reason == env_failure_reason::nonfinite);
  CHECK(failure.message.find("expected a finite reward, got ") == 0);
}

TEST_CASE("env_failure: an observation of another size is named with both sizes", "[env]") {
  auto batch = breakable([](std::int64_t, action_view, std::span<float> obs) {
    write_obs(floats{1, 2, 3}, obs);
    return step_result{};
  });
  const auto failure = break_the_first(batch);
  CHECK(failure.reason == env_failure_reason::shape);
  CHECK(failure.message == "expected an observation of 2 floats, got 3");
}

TEST_CASE("env_failure: writing past the observation's end is noticed and harms nobody", "[env]") {
  auto batch = breakable([](std::int64_t, action_view, std::span<float> obs) {
    for (std::size_t d = 0; d < 4; ++d) obs.data()[d] = 9;
    return step_result{};
  });
  const auto failure = break_the_first(batch);
  CHECK(failure.reason == env_failure_reason::shape);
  CHECK(failure.message == "expected an observation of 2 floats, got more");
}

TEST_CASE("env_failure: writing past the end of the last row is noticed", "[env]") {
  auto batch = breakable([](std::int64_t, action_view, std::span<float> obs) {
    obs.data()[2] = 9;
    return step_result{};
  });
  batch.reset(10);
  const auto after = batch.step({.discrete = {0, 1}});
  REQUIRE(after.failures.size() == 1);
  CHECK(after.failures[0].reason == env_failure_reason::shape);
  CHECK(after.obs == floats{1, 10, 0, 11});
}

namespace {

// Writes the first float only.
class half_written final : public environment {
 public:
  env_spec spec() const override {
    return {.id = "Half-v0",
            .observation_space = spaces::box(-1, 1, {2}),
            .action_space = spaces::discrete(2)};
  }
  void reset(std::optional<std::uint64_t>, std::span<float> obs) override { obs[0] = obs[1] = 0; }
  step_result step(action_view, std::span<float> obs) override {
    obs[0] = 1;
    return {};
  }
};

}  // namespace

TEST_CASE("env_failure: an element left unwritten is named", "[env]") {
  vector_env<half_written> batch(1);
  batch.reset(0);
  const auto after = batch.step({.discrete = {0}});
  REQUIRE(after.failures.size() == 1);
  CHECK(after.failures[0].reason == env_failure_reason::shape);
  CHECK(after.failures[0].message == "expected an observation of 2 floats, got none for element 1");
  CHECK(after.obs == floats{0, 0});
}

TEST_CASE("env_failure: an environment whose reset throws is made anew", "[env]") {
  auto made = std::make_shared<int>(0);
  auto make = [made] {
    ++*made;
    return scripted_environment(
        {.on_step = [](std::int64_t, action_view, std::span<float>) -> step_result {
           throw std::runtime_error("step");
         },
         .on_reset =
             [resets = 0](std::span<float>) mutable {
               if (++resets > 1) throw std::runtime_error("second reset");
             }});
  };
  vector_env<scripted_environment> batch(2, make);
  CHECK(*made == 2);
  batch.reset(5);
  const auto after = batch.step({.discrete = {0, 0}});
  CHECK(*made == 4);
  REQUIRE(after.failures.size() == 4);
  CHECK(after.failures[0].message == "step");
  CHECK_FALSE(after.failures[0].at_reset);
  CHECK(after.failures[1].message == "second reset");
  CHECK(after.failures[1].at_reset);
  CHECK(after.failures[2].index == 1);
  for (float value : after.obs) CHECK(std::isfinite(value));
}

TEST_CASE("env_failure: environments made anew have seeds that follow from the first", "[env]") {
  auto run = [](std::uint64_t seed) {
    auto make = [] {
      return scripted_environment({.on_reset = [resets = 0](std::span<float>) mutable {
        if (++resets > 1) throw std::runtime_error("second reset");
      }});
    };
    vector_env<scripted_environment> batch(1, make);
    batch.reset(seed);
    return batch.reset(std::nullopt).obs;
  };
  CHECK(run(5) == run(5));
  CHECK(run(5) != run(6));
  // Nor is it what environment 0 draws first.
  CHECK(run(5).at(1) != static_cast<float>(numpy_random(5).next64()));
}

TEST_CASE("env_failure: an episode that ended before a failed reset is kept", "[env]") {
  auto make = [] {
    return scripted_environment(
        {.max_episode_steps = 1, .on_reset = [resets = 0](std::span<float> obs) mutable {
           if (++resets > 1) obs[0] = not_a_number;
         }});
  };
  vector_env<scripted_environment> batch(1, make);
  batch.reset(5);
  const auto after = batch.step({.discrete = {0}});
  CHECK(after.truncated == flags{1});
  REQUIRE(after.finished.size() == 1);
  CHECK(after.finished[0].final_obs == floats{1, 5});
  REQUIRE(after.failures.size() == 1);
  CHECK(after.failures[0].at_reset);
  CHECK(after.failures[0].reason == env_failure_reason::nonfinite);
}

TEST_CASE("env_failure: an environment that can't begin any more is lost, by name", "[env]") {
  auto broken = std::make_shared<bool>(false);
  int made_in_vain = 0;
  auto make = [broken, &made_in_vain] {
    made_in_vain += *broken;
    if (*broken) throw std::runtime_error("no licence left");
    return scripted_environment({.on_reset = [broken](std::span<float>) {
      if (*broken) throw std::runtime_error("no power");
    }});
  };
  vector_env<scripted_environment> batch(1, make);
  batch.reset(5);
  *broken = true;
  CHECK_THROWS_AS(batch.reset(5), environment_lost);
  CHECK(made_in_vain == 3);
  CHECK_THROWS_WITH(batch.reset(5),
                    "environment 0 of Scripted-v0: expected an episode to begin, but its reset "
                    "failed, and that of 3 newly made ones: making it anew: no licence left; the "
                    "first failure was that of a reset: no power");
}

TEST_CASE("env_failure: an environment that is lost after a failed step names the step's failure",
          "[env]") {
  int made = 0;
  const auto make = [&] {
    if (++made > 2) throw std::runtime_error("no licence left");
    // The first environment works on, and its failure is not that of the second.
    return scripted_environment({.on_step = [&, own = made](auto...) -> step_result {
                                   throw std::runtime_error(own == 1 ? "rain" : "no power");
                                 },
                                 .on_reset =
                                     [&, own = made, resets = 0](auto) mutable {
                                       if (++resets > 1 && own == 2)
                                         throw std::runtime_error("no light");
                                     }});
  };
  vector_env<scripted_environment> batch(2, make);
  batch.reset(5);
  CHECK_THROWS_WITH(batch.step({.discrete = {0, 0}}),
                    "environment 1 of Scripted-v0: expected an episode to begin, but its reset "
                    "failed, and that of 3 newly made ones: making it anew: no licence left; the "
                    "first failure was that of a step: no power");
}

TEST_CASE("env_failure: an environment that always fails in the same way is lost with one reason",
          "[env]") {
  const auto make = [] {
    return scripted_environment(
        {.on_reset = [](std::span<float>) { throw std::runtime_error("no power"); }});
  };
  vector_env<scripted_environment> batch(1, make);
  CHECK_THROWS_WITH(batch.reset(5),
                    "environment 0 of Scripted-v0: expected an episode to begin, but its reset "
                    "failed, and that of 3 newly made ones: no power");
}
