#include "actors/worlds/check_world.hpp"

#include <unistd.h>
#include <csignal>
#include <cstdlib>
#include <stdexcept>

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
