#include "actors/python/python_check.hpp"

#include <cstdlib>
#include <set>
#include <string>

#include "actors/worlds/check_world.hpp"
#include "actors/worlds/registry.hpp"
#include "tests/paths.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

// tests/actors/python/check_test.py has the checks themselves. Here are the processes.

environment_request world(const std::string& id, const std::string& options = "{}") {
  ::setenv("PYTHONPATH", testing::source_path("tests/actors/python/worlds").c_str(), 1);
  return {.id = id,
          .options = options,
          .python = {.interpreter = "/usr/bin/python3", .start_timeout = 60, .step_timeout = 1}};
}

environment_report check(const environment_request& request) {
  return check_world(request, {.steps = 50, .seed = 1});
}

TEST_CASE("python check: a sound world has no finding, and a flaw is told with its traceback") {
  CHECK_THAT(to_string(check(world("unsound:Sound"))),
             StartsWith("unsound:Sound: no fault, no warning\nspeed: 1 environment, alone: "));
  const auto report = check(world("unsound:Raises"));
  REQUIRE(report.faults().size() == 1);
  CHECK(report.faults()[0].check == "exceptions");
  CHECK(report.faults()[0].call == environment_call{"step", "episode 1, step 1"});
  CHECK(report.faults()[0].times > 1);
  CHECK_THAT(to_string(report), Contains("unsound.py\", line") &&
                                    Contains("KeyError: 'the door'") && !Contains("troupe_worker"));
}

TEST_CASE("python check: a process that ends, and one that doesn't answer, are faults") {
  const auto [name, expected] = GENERATE(table<const char*, const char*>(
      {{"Dies", "ended with exit code 7"},
       {"Hangs", "was killed, because its step took longer than 1 s"}}));
  const auto report = check(world("unsound:" + std::string(name)));
  REQUIRE(report.faults().size() == 1);
  CHECK(report.faults()[0].check == "process");
  CHECK(report.faults()[0].call == environment_call{"step", "episode 1, step 1"});
  CHECK_THAT(report.faults()[0].got, Contains(expected));
  REQUIRE(report.not_made().size() == 2);
  CHECK(report.not_made()[1].check == "speed");
}

TEST_CASE("python check: an environment that is not made, or not reset, in time is a fault") {
  auto request = world("faulty:HangsWhenMade");
  request.python.start_timeout = 0.5;
  const auto making = check(request);
  REQUIRE(making.faults().size() == 1);
  CHECK_THAT(making.faults()[0].got,
             Contains("because making it took longer than 0.5 s (env.start_timeout)"));

  request = world("faulty:HangsInReset");
  request.python.reset_timeout = 0.2;
  const auto resetting = check(request);
  REQUIRE(!resetting.faults().empty());
  CHECK_THAT(resetting.faults().back().got,
             Contains("because its reset took longer than 0.2 s (env.reset_timeout)"));
}

TEST_CASE("python check: the speed of one environment and of several, alone and hosted") {
  const auto report = check_world(world("unsound:Sound"),
                                  {.steps = 120, .seed = 1, .n_envs = 3, .speed_seconds = 60});
  std::vector<std::pair<std::int64_t, std::string>> measured;
  for (const auto& one : report.speeds()) {
    measured.emplace_back(one.environments, one.how);
    CHECK(one.steps == 120);
    CHECK(one.episodes == 12);
    CHECK(one.seconds > 0);
  }
  CHECK(measured == std::vector<std::pair<std::int64_t, std::string>>{
                        {1, "alone"}, {3, "alone"}, {1, "hosted"}, {3, "hosted"}});
}

TEST_CASE("python check: each call is told before it is made, and slow steps end the sequence") {
  std::set<std::string> calls;
  const auto report = check_world(
      world("unsound:Sound"),
      {.steps = 50, .seed = 1, .seconds = 1e-9, .on_call = [&](const environment_call& call) {
         calls.insert(call.where);
       }});
  for (const auto* one : {"making it", "reset", "step", "close", "measuring the speed"})
    CHECK(calls.contains(one));
  CHECK_THAT(to_string(report), Contains("not checked: steps: 1e-09 s had passed after 1 of 50"));
}

TEST_CASE("python check: the speed of a team whose masks must be obeyed is measured") {
  const auto report = check_world(world("zoo:Strict"), {.steps = 100, .speed_seconds = 60});
  CHECK(report.speeds().size() == 2);
}

TEST_CASE("python check: what the request has wrong is an error and no fault") {
  const auto refuse = [](const environment_request& request, const char* expected) {
    CHECK_THROWS_WITH(check(request), Contains(expected));
  };
  refuse(world("misses:World"), "pip install 'a_package_that_is_missing'");
  refuse(world("unsound:Nothing"), "module unsound has no 'Nothing'");
  refuse(world("unsound:Sound", R"({"size": 3})"), "env.options: unsound:Sound takes");
}

TEST_CASE("python check: a run refuses a space in the words of its fault") {
  const auto* name = GENERATE("ObservesSequence", "ActsOneOf", "HugeAction", "WordsForLetters",
                              "EmptyDiscrete", "EmptyDict", "UnknownParts", "TextAction");
  const auto request = world("unsound:" + std::string(name));
  const auto report = check(request);
  REQUIRE(report.faults().size() == 1);
  const auto& fault = report.faults()[0];
  const auto key = fault.key.empty() ? "" : fault.key + ": ";
  CHECK_THROWS_WITH(make_vector_environment(request, 1),
                    Contains(fault.call.where + ": " + key + "expected " + fault.expected +
                             ", got " + fault.got));
}

TEST_CASE("python check: the error of an environment names it once") {
  CHECK_THROWS_WITH(check(world("zoo:Untold")), StartsWith("zoo:Untold: expected possible_agents"));
}

TEST_CASE("python check: wrappers of this program are checked around the world") {
  auto request = world("good:Steer");
  request.wrappers = {.max_episode_steps = 10, .frames = 2, .rescale_actions = true};
  CHECK_THAT(to_string(check(request)), StartsWith("good:Steer: no fault"));
}

// Hidden: tests/actors/worlds/gymnasium_test.sh runs it with an interpreter that has Gymnasium.
TEST_CASE("python check: environments of Gymnasium have no fault", "[.gymnasium_guest]") {
  const char* interpreter = std::getenv("TROUPE_GYMNASIUM_PYTHON");
  REQUIRE(interpreter);
  for (const std::string name : {"CartPole-v1", "Pendulum-v1", "Blackjack-v1", "FrozenLake-v1"}) {
    const auto report = check_world(
        {.id = "gymnasium:" + name, .python = {.interpreter = interpreter}}, {.steps = 300});
    CHECK_THAT(to_string(report), StartsWith("gymnasium:" + name + ": no fault"));
  }
}

}  // namespace
}  // namespace troupe
