#include "actors/worlds/check_world.hpp"

#include <unistd.h>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <set>
#include <stdexcept>
#include <thread>

#include "tests/test.hpp"

namespace troupe {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

// Listed before tests register environments of their own.
const std::vector<std::string> built_in = known_environments();

enum class end { by_signal, by_exit, never };

/// Ends its process in the third step, or never returns from it.
class deadly final : public environment {
 public:
  explicit deadly(end how) : how_(how) {}

  env_spec spec() const override {
    return {.id = "Deadly-v0",
            .observation_space = spaces::box(0, 1, {1}),
            .action_space = spaces::discrete(2)};
  }
  void reset(std::optional<std::uint64_t>, std::span<float> obs) override { obs[0] = 0; }
  step_result step(action_view, std::span<float> obs) override {
    obs[0] = 1;
    if (++steps_ < 3) return {};
    if (how_ == end::by_signal) std::raise(SIGKILL);
    if (how_ == end::by_exit) std::_Exit(3);
    for (;;) ::pause();
  }

 private:
  end how_;
  int steps_ = 0;
};

environment_report check(const std::string& id, std::int64_t steps = 300) {
  return check_world({.id = id, .python = {.step_timeout = 0.5}}, {.steps = steps, .seed = 1});
}

TEST_CASE("check: built-in environments have no fault") {
  for (const auto& id : built_in) {
    const auto report = check_world({.id = id}, {.steps = 250, .seed = 1});
    CHECK_THAT(to_string(report), StartsWith(id + ": no fault"));
  }
}

TEST_CASE("check: the wrappers of a request are checked, too") {
  const auto report = check_world({.id = "Pendulum-v1",
                                   .wrappers = {.max_episode_steps = 20,
                                                .frames = 3,
                                                .rescale_actions = true,
                                                .reward_scale = 0.1}},
                                  {.steps = 100});
  CHECK_THAT(to_string(report), StartsWith("Pendulum-v1: no fault, "));
  CHECK_THROWS_AS(check_world({.id = "CartPole-v1", .wrappers = {.rescale_actions = true}}, {}),
                  std::invalid_argument);
}

TEST_CASE("check: unknown names and arguments are refused") {
  CHECK_THROWS_AS(check_world({.id = "CartPol-v1"}, {}), unknown_environment);
  CHECK_THROWS_WITH(check_world({.id = "LunarLander-v3", .options = R"({"gravity": 5})"}, {}),
                    Contains("env.options/gravity"));
}

TEST_CASE("check: a crash, an exit and a call that never returns are faults") {
  register_environment("DeadlyBySignal-v0",
                       [] { return std::make_unique<deadly>(end::by_signal); });
  register_environment("DeadlyByExit-v0", [] { return std::make_unique<deadly>(end::by_exit); });
  register_environment("DeadlyNever-v0", [] { return std::make_unique<deadly>(end::never); });
  const auto fault_of = [](const std::string& id) {
    const auto report = check(id);
    REQUIRE(report.faults().size() == 1);
    CHECK(report.faults()[0].call == environment_call{"step", "episode 1, step 3"});
    return to_string(report);
  };
  CHECK_THAT(fault_of("DeadlyBySignal-v0"),
             Contains("expected a return, got an end by signal 9 (Killed)"));
  CHECK_THAT(fault_of("DeadlyByExit-v0"),
             Contains("expected a return, got an end with exit code 3"));
  CHECK_THAT(fault_of("DeadlyNever-v0"),
             Contains("expected a return within 0.5 s (env.step_timeout), got none"));
}

/// Takes some time for each step. An episode has two.
class slow final : public environment {
 public:
  env_spec spec() const override {
    return {.id = "Slow-v0",
            .observation_space = spaces::box(0, 2, {1}),
            .action_space = spaces::discrete(2)};
  }
  void reset(std::optional<std::uint64_t> seed, std::span<float> obs) override {
    steps_ = 0;
    obs[0] = seed ? static_cast<float>(*seed % 3) : 0;
  }
  step_result step(action_view, std::span<float> obs) override {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    obs[0] = 1;
    return {.terminated = ++steps_ == 2};
  }

 private:
  int steps_ = 0;
};

// The time that passes is what the test is about: the measurement takes longer than a step may.
TEST_CASE("check: slow steps shorten the sequence, and a measurement is no step that hangs") {
  register_environment("Slow-v0", [] { return std::make_unique<slow>(); });
  const auto report = check_world({.id = "Slow-v0", .python = {.step_timeout = 0.5}},
                                  {.steps = 40, .seed = 1, .seconds = 0.001});
  CHECK(report.faults().empty());
  CHECK_THAT(to_string(report), Contains("not checked: steps: 0.001 s had passed after "));
  REQUIRE(report.speeds().size() == 1);
  CHECK(report.speeds()[0].steps == 40);
}

TEST_CASE("check: each call is told before it is made, in C++ and in batches") {
  register_vector_environment("ToldBatch-v0", [](std::size_t size) {
    return make_vector_environment("CartPole-v1", size);
  });
  for (const auto* id : {"CartPole-v1", "ToldBatch-v0"}) {
    std::set<std::string> calls;
    check_world({.id = id}, {.steps = 20, .on_call = [&](const environment_call& call) {
                               calls.insert(call.where);
                             }});
    for (const auto* one : {"making it", "reset", "step", "measuring the speed"})
      CHECK(calls.contains(one));
  }
}

TEST_CASE("check: an environment that is registered as a batch is checked as a batch of one") {
  register_vector_environment("DeadlyBatch-v0", [](std::size_t size) {
    return make_vector_environment("CartPole-v1", size);
  });
  const auto report = check("DeadlyBatch-v0");
  CHECK_THAT(to_string(report), StartsWith("DeadlyBatch-v0: no fault"));
  CHECK(report.not_made().empty());
}

}  // namespace
}  // namespace troupe
