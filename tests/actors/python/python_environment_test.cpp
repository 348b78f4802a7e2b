#include "actors/python/python_environment.hpp"

#include <signal.h>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "actors/environments/canvas.hpp"
#include "actors/environments/hosted_environment.hpp"
#include "actors/random/numpy_random.hpp"
#include "actors/worlds/registry.hpp"
#include "runtime/system/system.hpp"
#include "tests/captured_stream.hpp"
#include "tests/eventually.hpp"
#include "tests/paths.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using Catch::Matchers::Contains;

/// A request for a class of the test worlds, which need no Gymnasium.
environment_request world(const std::string& id, const std::string& options = "{}") {
  ::setenv("PYTHONPATH", testing::source_path("tests/actors/python/worlds").c_str(), 1);
  return {.id = id,
          .options = options,
          .python = {.interpreter = "/usr/bin/python3", .start_timeout = 60, .step_timeout = 20}};
}

env_actions all_take(std::int64_t action, std::size_t size) {
  env_actions actions;
  actions.discrete.assign(size, action);
  return actions;
}

/// Takes steps until an episode fails, and returns the failures of that step.
std::vector<env_failure> first_failures(vector_environment& envs, int steps_max = 20) {
  envs.reset(1);
  for (int i = 0; i < steps_max; ++i) {
    auto after = envs.step(all_take(1, envs.size()));
    if (!after.failures.empty()) return after.failures;
  }
  FAIL("no episode failed");
  return {};
}

TEST_CASE("python: an environment's spaces, steps, seeds and last observations") {
  const auto envs = make_vector_environment(world("good:Counter", R"({"length": 3})"), 2);
  const auto spec = envs->spec();
  CHECK(spec.id == "good:Counter");
  CHECK(spec.action_space == space(spaces::discrete(3, -1)));
  const auto first = envs->reset(7);
  CHECK(first.obs == recycled_vector<float>{7, 0, 8, 0});
  auto after = envs->step(all_take(-1, 2));
  CHECK(after.obs == recycled_vector<float>{7, 1, 8, 1});
  CHECK(after.reward == recycled_vector<double>{-1, -1});
  envs->step(all_take(1, 2));
  after = envs->step(all_take(1, 2));
  CHECK(after.obs == recycled_vector<float>{7, 0, 8, 0});
  CHECK(after.terminated == recycled_vector<std::uint8_t>{1, 1});
  CHECK(after.truncated == recycled_vector<std::uint8_t>{0, 0});
  REQUIRE(after.finished.size() == 2);
  // The environment reuses the memory of its observations.
  CHECK(after.finished[1].final_obs == recycled_vector<float>{8, 3});
  CHECK(after.finished[1].episode_return == 1);
  CHECK(after.finished[1].length == 3);
}

TEST_CASE("python: truncation, success and numbers of the last info") {
  auto request = world("good:Counter", R"({"length": 2, "success": true, "truncates": true})");
  request.python.info = {"keys", "text", "missing"};
  const auto envs = make_vector_environment(request, 1);
  envs->reset(1);
  envs->step(all_take(0, 1));
  const auto after = envs->step(all_take(0, 1));
  CHECK(after.truncated[0]);
  CHECK_FALSE(after.terminated[0]);
  REQUIRE(after.finished.size() == 1);
  CHECK(after.finished[0].success);
  CHECK(after.finished[0].info == episode_info{{"is_success", 1}, {"keys", 10}});
}

TEST_CASE("python: reset options, attributes and wrappers") {
  auto request = world("good:Counter");
  request.python.wrappers = {"good.Halve"};
  const auto envs = make_vector_environment(request, 2);
  envs->set_options(R"({"first": 40})");
  envs->reset(1);
  envs->set_attr("bonus", "6");
  const auto after = envs->step(all_take(1, 2));
  CHECK(after.obs[1] == 41);
  CHECK(after.reward == recycled_vector<double>{3.5, 3.5});
  CHECK_THROWS_WITH(envs->set_attr("nothing", "6"),
                    Contains("expected an attribute of the environment, got 'nothing'"));
}

TEST_CASE("python: wrappers take arguments as in Python") {
  auto request = world("good:Counter");
  request.python.wrappers = {"good.Halve", "good.Scale(factor=4)",
                             "good:Scale(factor=-1, plus=0.5)"};
  const auto envs = make_vector_environment(request, 1);
  envs->reset(1);
  const auto plain = make_vector_environment(world("good:Counter"), 1);
  plain->reset(1);
  const double reward = plain->step(all_take(1, 1)).reward[0];
  REQUIRE(reward != 0);
  CHECK(envs->step(all_take(1, 1)).reward[0] == -(reward / 2 * 4) + 0.5);

  const auto refuse = [](const char* wrapper, const char* expected) {
    auto of = world("good:Counter");
    of.python.wrappers = {wrapper};
    CHECK_THROWS_WITH(make_vector_environment(of, 1), Contains(expected));
  };
  refuse("good.Scale",
         "env.wrappers: good.Scale: expected the argument 'factor', as in Scale(factor=");
  refuse("good.Scale(factr=2)",
         "good.Scale takes ['factor', 'plus'], got 'factr'; did you mean 'factor'?");
  refuse("good.Scale(2)", "expected NAME(argument=value, ...)");
  refuse("good.Scale(factor=2", "got 'good.Scale(factor=2'");
  refuse("good.Scale(factor=true)", "factor: expected a value of Python such as");
  refuse("good.Scale(factor=true)", "got true; did you mean True?");
  refuse("good.Scale(factor=open('x'))", "factor: expected a value of Python such as");
  refuse("good.Scale(factor=0)",
         "good.Scale(factor=0): ValueError: a factor of 0 hides every reward");
  refuse("good.np", "expected a class or a function, got good.np");
}

TEST_CASE("python: wrappers of this program around environments in Python") {
  auto request = world("good:Steer");
  request.wrappers = {.max_episode_steps = 2,
                      .frames = 3,
                      .rescale_actions = true,
                      .reward_scale = 0.5,
                      .reward_clip = 3};
  const auto envs = make_vector_environment(request, 1);
  CHECK(envs->spec().action_space == space(spaces::box(-1, 1, {1})));
  CHECK(envs->spec().observation_space.flat_size() == 3);
  envs->reset(1);
  const auto reward = [&](float action) {
    env_actions actions;
    actions.continuous.assign(1, action);
    return envs->step(std::move(actions));
  };
  CHECK(reward(-1).reward[0] == -2);  // the lower bound -4, halved
  const auto last = reward(1);        // the upper bound 8, halved, clipped
  CHECK(last.reward[0] == 3);
  CHECK(last.truncated[0]);
  CHECK(last.finished.at(0).episode_return == 1);
}

TEST_CASE("python: observations of every kind have the layout of their space") {
  const auto envs = make_python_environment({.id = "good:Everything", .python = world("").python});
  const auto spec = envs->spec();
  std::vector<float> obs(spec.observation_space.flat_size());
  envs->reset(1, obs);
  std::vector<float> image;
  for (int channel = 0; channel < 3; ++channel)
    for (int pixel = 0; pixel < 20; ++pixel) image.push_back(float(pixel * 3 + channel));
  const space_value expected(std::vector<space_value>{
      space_value(std::vector<std::uint8_t>{1, 0, 1}), space_value(image),
      space_value(std::int64_t{3}),
      space_value(std::vector<space_value>{space_value(std::vector<std::int64_t>{2, 1}),
                                           space_value(std::vector<float>{0.5, -0.5, 0.25, 1})}),
      space_value(std::string("cab"))});
  CHECK(obs == spec.observation_space.flatten(expected));
}

TEST_CASE("python: a set has one order in all processes") {
  const auto first = make_vector_environment(world("good:Compass"), 1)->reset(1).obs;
  for (int i = 0; i < 2; ++i)
    CHECK(make_vector_environment(world("good:Compass"), 1)->reset(1).obs == first);
}

TEST_CASE("python: numbers that no 32-bit float has are named, and those it makes one are told") {
  const testing::captured_stderr log;
  const auto envs = make_vector_environment(world("unsound:Times"), 2);
  envs->reset(1);
  for (int i = 0; i < 3; ++i) CHECK(envs->step(all_take(1, 2)).failures.empty());
  const auto told = log.text();
  const std::string text = "got 1700000123 and 1700000143, which are one number to it";
  CHECK_THAT(told, Contains(text));
  CHECK(told.find(text) == told.rfind(text));
  const auto huge = make_vector_environment(world("unsound:HugeNumber"), 1);
  CHECK_THAT(
      first_failures(*huge).at(0).message,
      Contains("observation: expected numbers that a 32-bit float has (at most 3.4e+38), got "
               "1e+40 at [1]"));
  const auto paid = make_vector_environment(world("unsound:HugeReward"), 1);
  CHECK_THAT(first_failures(*paid).at(0).message, Contains("got 1e+40"));
}

TEST_CASE("python: masks of a single agent are told, wherever they are") {
  const auto [name, place] = GENERATE(table<const char*, const char*>({
      {"MaskInInfo", R"(info["action_mask"]: no algorithm for a single agent uses masks)"},
      {"MaskInDict", R"(the key "action_mask" of its observations: no algorithm)"},
      {"MaskMethod", "its method action_masks(): no algorithm"},
  }));
  const testing::captured_stderr log;
  const auto envs = make_vector_environment(world("unsound:" + std::string(name)), 1);
  envs->reset(1);
  envs->step(all_take(1, 1));
  // Texts of the log are JSON, with marks before quotes.
  std::string told;
  for (const char c : log.text())
    if (c != '\\') told += c;
  CHECK_THAT(told, Contains(place));
}

TEST_CASE("python: an error of unpacking in the environment's own code gets no hint about step") {
  const auto envs = make_vector_environment(world("faulty:UnpacksWrongly", R"({"at": 1})"), 1);
  envs->reset(1);
  const auto after = envs->step(all_take(1, 1));
  REQUIRE(after.failures.size() == 1);
  CHECK_THAT(after.failures[0].message, !Contains("as Gymnasium has it"));
}

TEST_CASE("python: each fault of an environment is told, and costs its episode alone") {
  const auto [name, expected] = GENERATE(table<const char*, const char*>(
      {{"Throws", "KeyError: 'the door'"},
       {"Exits", "it called sys.exit(3)"},
       {"NaN", "expected a finite reward, got nan"},
       {"NaNObservation", "nan"},
       {"OtherShape", "expected an array of shape (2,), got shape (3,)"},
       {"OtherType", "expected dtype float32, got dtype <U1"},
       {"OldForm",
        "step: expected (observation, reward, terminated, truncated, info), as Gymnasium has it, "
        "got a tuple of 4"},
       {"NoResult", "truncated, info), as Gymnasium has it, got None"},
       {"UnpacksWrongly", "ValueError: too many values to unpack"}}));
  CAPTURE(name);
  // Environment 0 has seed 1 and fails; environment 1 goes on.
  const auto envs =
      make_vector_environment(world("faulty:" + std::string(name), R"({"at": 2, "only": 1})"), 2);
  envs->reset(1);
  envs->step(all_take(1, 2));
  const auto after = envs->step(all_take(1, 2));
  REQUIRE(after.failures.size() == 1);
  CHECK(after.failures[0].index == 0);
  CHECK_FALSE(after.failures[0].at_reset);
  CHECK_THAT(after.failures[0].message, Contains(expected));
  CHECK(after.obs == recycled_vector<float>{1, 0, 2, 2});
  CHECK(after.reward == recycled_vector<double>{0, 1});
}

TEST_CASE("python: a traceback has the environment's frames alone") {
  const auto envs = make_vector_environment(world("faulty:Throws"), 1);
  const auto message = first_failures(*envs).at(0).message;
  CHECK_THAT(message, Contains("faulty.py\", line"));
  CHECK_THAT(message, Contains("raise KeyError(\"the door\")"));
  CHECK_THAT(message, !Contains("troupe_worker"));
}

TEST_CASE("python: spaces that change, and resets that throw") {
  const auto changing = make_vector_environment(world("faulty:ChangesSpaces"), 1);
  changing->reset(1);
  std::vector<env_failure> failures;
  while (failures.empty()) failures = changing->step(all_take(0, 1)).failures;
  CHECK(failures[0].at_reset);
  CHECK_THAT(failures[0].message, Contains("its observation space has changed"));
  const auto throwing = make_vector_environment(world("faulty:ThrowsInReset"), 1);
  CHECK_THROWS_WITH(throwing->reset(1), Contains("RuntimeError: no level"));
}

TEST_CASE("python: a process that ends is told with its last output, and a reset starts another") {
  const auto envs = make_vector_environment(world("faulty:Dies"), 2);
  envs->reset(1);
  envs->step(all_take(0, 2));
  envs->step(all_take(0, 2));
  CHECK_THROWS_WITH(envs->step(all_take(0, 2)),
                    Contains("ended with exit code 7") && Contains("about to die"));
  CHECK_THROWS_AS(envs->step(all_take(0, 2)), environment_process_lost);
  CHECK(envs->reset(5).obs == recycled_vector<float>{5, 0, 6, 0});
  CHECK(envs->step(all_take(0, 2)).obs == recycled_vector<float>{5, 1, 6, 1});
}

TEST_CASE("python: another process has the reset options and attributes that were set") {
  const auto envs = make_vector_environment(world("faulty:Dies", R"({"at": 2})"), 1);
  envs->set_options(R"({"first": 40})");
  envs->set_attr("bonus", "6");
  for (const std::uint64_t seed : {1, 2}) {
    CHECK(envs->reset(seed).obs == recycled_vector<float>{float(seed), 40});
    CHECK(envs->step(all_take(1, 1)).reward[0] == 7);
    CHECK_THROWS_AS(envs->step(all_take(1, 1)), environment_process_lost);
  }
}

TEST_CASE("python: a process that leaves another one behind is told at once") {
  const auto envs = make_vector_environment(world("faulty:ForksAndDies", R"({"at": 1})"), 1);
  envs->reset(1);
  CHECK_THROWS_WITH(envs->step(all_take(0, 1)), Contains("ended with exit code 9"));
}

TEST_CASE("python: an answer that can't be read ends the process, and a reset starts another") {
  const auto envs = make_vector_environment(world("faulty:Forges", R"({"at": 2})"), 1);
  envs->reset(1);
  envs->step(all_take(0, 1));
  CHECK_THROWS_WITH(envs->step(all_take(0, 1)), Contains("its answer can't be read"));
  CHECK_THROWS_WITH(envs->step(all_take(0, 1)), Contains("has ended before"));
  CHECK(envs->reset(5).obs == recycled_vector<float>{5, 0});
  CHECK(envs->step(all_take(0, 1)).obs == recycled_vector<float>{5, 1});
}

TEST_CASE("python: steps, resets and imports that take too long are ended") {
  auto request = world("faulty:Hangs", R"({"at": 1})");
  request.python.step_timeout = 0.2;
  const auto hanging = make_vector_environment(request, 1);
  hanging->reset(1);
  CHECK_THROWS_WITH(hanging->step(all_take(0, 1)),
                    Contains("a step took longer than 0.2 s (env.step_timeout)"));
  request = world("faulty:HangsInReset");
  request.python.reset_timeout = 0.2;
  const auto stuck = make_vector_environment(request, 1);
  CHECK_THROWS_WITH(stuck->reset(1),
                    Contains("a reset took longer than 0.2 s (env.reset_timeout)"));
  request = world("hangs:World");
  request.python.start_timeout = 0.5;
  CHECK_THROWS_WITH(make_vector_environment(request, 1),
                    Contains("making its environments took longer than 0.5 s (env.start_timeout)"));
}

TEST_CASE(
    "python: resets in a step have their own time, and together may take longer than a step") {
  auto request = world("faulty:SlowToReset", R"({"seconds": 0.7})");
  request.python.step_timeout = 1;
  const auto envs = make_vector_environment(request, 2);
  envs->reset(1);
  envs->step(all_take(0, 2));
  const auto after = envs->step(all_take(0, 2));
  CHECK(after.finished.size() == 2);
  CHECK(after.failures.empty());
  CHECK(after.obs == recycled_vector<float>{1, 0, 2, 0});
  CHECK(envs->step(all_take(0, 2)).obs == recycled_vector<float>{1, 1, 2, 1});
}

TEST_CASE("python: what took too long in a step is told, be it a reset or the step itself") {
  auto request = world("faulty:SlowToReset", R"({"length": 1})");
  request.python.reset_timeout = 1;
  const auto stuck = make_vector_environment(request, 1);
  stuck->reset(1);
  CHECK_THROWS_WITH(stuck->step(all_take(0, 1)), Contains("a reset took longer than 1 s"));
  // Environment 0 has seed 1 and is reset before environment 1 takes its step.
  request = world("faulty:SlowToReset", R"({"length": 1, "seconds": 1.3, "hangs": 2})");
  request.python.step_timeout = 1;
  const auto hanging = make_vector_environment(request, 2);
  hanging->reset(1);
  const auto begun = std::chrono::steady_clock::now();
  CHECK_THROWS_WITH(hanging->step(all_take(0, 2)), Contains("a step took longer than 1 s"));
  CHECK(std::chrono::steady_clock::now() - begun >= std::chrono::milliseconds(2300));
  const auto dying = make_vector_environment(world("faulty:DiesInReset", R"({"length": 1})"), 1);
  dying->reset(1);
  CHECK_THROWS_WITH(dying->step(all_take(0, 1)),
                    Contains("ended in a reset") && Contains("exit code 7"));
}

TEST_CASE("python: prints, forks and threads disturb nothing") {
  const std::string name = GENERATE("Prints", "Forks", "Threads");
  CAPTURE(name);
  const auto envs = make_vector_environment(world("faulty:" + name), 1);
  envs->reset(1);
  for (int i = 1; i < 10; ++i) CHECK(envs->step(all_take(0, 1)).obs[1] == float(i));
  CHECK(envs->step(all_take(0, 1)).finished.size() == 1);
}

TEST_CASE("python: memory beyond the limit is an error of the environment") {
  auto request = world("faulty:Leaks");
  request.python.memory_limit_mb = 512;
  const auto envs = make_vector_environment(request, 1);
  CHECK_THAT(first_failures(*envs, 500).at(0).message, Contains("MemoryError"));
}

TEST_CASE("python: spaces that can't be used are told before anything runs") {
  const auto [name, expected] = GENERATE(table<const char*, const char*>({
      {"ObservesSequence",
       "observation space: expected a space of kind Box, Discrete, "
       "MultiDiscrete, MultiBinary, Text, Dict, Tuple; a wrapper can replace "
       "it, got Sequence"},
      {"ActsOneOf", "action space: second: expected a space of kind Box"},
      {"HugeAction",
       "action space: expected high of numbers that a 32-bit float has (at most 3.4e+38), got "
       "1e+40"},
      {"WordsForLetters", "observation space: expected a charset of single characters, got 'go'"},
      {"VectorReward",
       "expected one number as the reward of a step, got a reward_space of shape (2,)"},
      {"EmptyDiscrete", "action space: expected n > 0, got 0"},
      {"BoundsOfAnotherShape", "observation space: expected low of shape (2,), got shape (3,)"},
  }));
  CHECK_THROWS_WITH(make_vector_environment(world("unsound:" + std::string(name)), 1),
                    Contains(expected));
}

/// What many steps of `good:Leaks` have shown.
struct leaking_steps {
  std::set<float> processes;
  std::vector<std::string> replaced;                         ///< The reasons.
  std::map<std::size_t, std::vector<std::int64_t>> lengths;  ///< Of each environment's episodes.
  std::set<double> seeds;
  std::size_t failures = 0;
};

leaking_steps play_leaks(vector_environment& envs, int steps) {
  leaking_steps seen;
  envs.reset(1);
  for (int t = 0; t < steps; ++t) {
    const auto after = envs.step(all_take(1, envs.size()));
    if (after.process_replaced) seen.replaced.push_back(*after.process_replaced);
    seen.failures += after.failures.size();
    for (const auto& e : after.finished) {
      seen.processes.insert(e.final_obs[0]);
      seen.lengths[e.index].push_back(e.length);
      CHECK(e.final_obs[1] == float(e.length));
      if (e.info.contains("seed")) seen.seeds.insert(e.info.at("seed"));
    }
  }
  return seen;
}

TEST_CASE("python: a process is replaced after so many episodes, and none is lost") {
  auto request = world("good:Leaks");
  request.python.replace_after_episodes = 7;
  const auto envs = make_vector_environment(request, 3);
  const auto seen = play_leaks(*envs, 60);
  CHECK(seen.failures == 0);
  CHECK(seen.replaced.size() >= 5);
  CHECK(std::ranges::all_of(seen.replaced, [](const auto& why) { return why == "episodes"; }));
  CHECK(seen.processes.size() >= seen.replaced.size());
  // Each new process seeds its environments, with other seeds than those before.
  CHECK(seen.seeds.size() >= 3 * seen.replaced.size());
  for (const auto& [index, lengths] : seen.lengths) {
    const auto length = static_cast<std::int64_t>(index) + 2;
    CHECK(lengths == std::vector<std::int64_t>(static_cast<std::size_t>(60 / length), length));
  }
}

TEST_CASE("python: no episode is lost by environments that can't be closed") {
  const testing::captured_stderr log;
  for (const auto* name : {"faulty:ExitsAtClose", "faulty:KillsAtClose"}) {
    CAPTURE(name);
    auto request = world(name);
    request.python.replace_after_episodes = 3;
    const auto envs = make_vector_environment(request, 3);
    const auto seen = play_leaks(*envs, 24);
    CHECK(seen.failures == 0);
    CHECK(seen.replaced.size() >= 2);
    for (const auto& [index, lengths] : seen.lengths) {
      const auto length = static_cast<std::int64_t>(index) + 2;
      CHECK(lengths == std::vector<std::int64_t>(static_cast<std::size_t>(24 / length), length));
    }
  }
  CHECK_THAT(log.text(), Contains("close: expected no exception, got it called sys.exit(4)") &&
                             Contains("that was replaced did not close its environments") &&
                             Contains("env=faulty:KillsAtClose"));
}

TEST_CASE("python: a process that is replaced is counted") {
  auto request = world("good:Leaks");
  request.python.replace_after_episodes = 1;
  std::map<std::string, int> counted;
  hosted_environment environments(
      {.index = 0, .generation = 0},
      [request] { return make_vector_environment(request, std::size_t{1}); }, 1,
      {.process_replaced = [&counted](const std::string& reason) { ++counted[reason]; }});
  environments.observe();
  for (int t = 0; t < 8; ++t) environments.step(all_take(0, 1));
  CHECK(counted == std::map<std::string, int>{{"episodes", 4}});
}

TEST_CASE("python: a process that has grown beyond its memory is replaced between episodes") {
  auto request = world("good:Leaks", R"({"mb": 32})");
  request.python.replace_above_mb = 192;
  const auto envs = make_vector_environment(request, 2);
  const auto seen = play_leaks(*envs, 60);
  CHECK(seen.failures == 0);
  CHECK(seen.replaced.size() >= 3);
  CHECK(std::ranges::all_of(seen.replaced, [](const auto& why) { return why == "memory"; }));
  CHECK(seen.lengths.at(0).size() == 30);
  CHECK(seen.lengths.at(1).size() == 20);
}

TEST_CASE("python: episodes that a time limit of this program ends count, too") {
  auto request = world("good:Leaks", R"({"ends": false})");
  request.wrappers.max_episode_steps = 4;
  request.python.replace_after_episodes = 3;
  const auto envs = make_vector_environment(request, 2);
  const auto seen = play_leaks(*envs, 40);
  CHECK(seen.failures == 0);
  CHECK(seen.processes.size() >= 4);
  CHECK(seen.lengths.at(0) == std::vector<std::int64_t>(10, 4));
  CHECK(seen.lengths.at(1) == std::vector<std::int64_t>(10, 4));
}

TEST_CASE("python: an environment by itself has its process replaced") {
  auto request = world("good:Leaks");
  request.python.replace_after_episodes = 2;
  const auto env = make_environment(request);
  std::set<float> processes;
  std::vector<float> obs(3);
  const std::int64_t action = 0;
  for (int episode = 0; episode < 8; ++episode) {
    env->reset(episode == 0 ? std::optional<std::uint64_t>(1) : std::nullopt, obs);
    CHECK(obs[1] == 0);
    env->step(action_view(action), obs);
    CHECK(env->step(action_view(action), obs).terminated);
    processes.insert(obs[0]);
  }
  CHECK(processes.size() == 4);
}

TEST_CASE("python: a process that can't be replaced goes on") {
  const auto file =
      std::filesystem::temp_directory_path() / ("troupe_once_" + std::to_string(::getpid()));
  std::filesystem::remove(file);
  auto request = world("good:Leaks", nlohmann::json{{"once", file.string()}}.dump());
  request.python.replace_after_episodes = 3;
  const auto envs = make_vector_environment(request, 1);
  const testing::captured_stream log(stderr);
  const auto seen = play_leaks(*envs, 20);
  CHECK(seen.failures == 0);
  CHECK(seen.replaced.empty());
  CHECK(seen.processes.size() == 1);
  CHECK(seen.lengths.at(0).size() == 10);
  CHECK_THAT(log.text(), Contains("can't be replaced, so it goes on") && Contains("File exists"));
  std::filesystem::remove(file);
}

/// The colour of the last picture that was drawn on it.
class last_picture final : public canvas {
 public:
  void begin(int, int, colour) override {}
  void pixels(int, int, std::span<const std::uint8_t> rgb) override { shade = rgb[0]; }
  void line(point, point, double, colour) override {}
  void polygon(std::span<const point>, colour) override {}
  void circle(point, double, colour) override {}
  void text(point, std::string_view, double, colour) override {}
  int shade = -1;
};

TEST_CASE("python: the last picture of an episode is drawn before its process is replaced") {
  auto request = world("good:Leaks");
  request.python.render = true;
  request.python.replace_after_episodes = 1;
  const auto envs = make_vector_environment(request, 1);
  last_picture picture;
  envs->set_final_canvas(&picture);
  envs->reset(1);
  for (int episode = 0; episode < 4; ++episode) {
    picture.shade = -1;
    envs->step(all_take(0, 1));
    CHECK(envs->step(all_take(0, 1)).failures.empty());
    CHECK(picture.shade == 2);
  }
}

TEST_CASE("python: an environment's levels are those of its next episodes") {
  const auto envs = make_vector_environment(world("good:Levels"), 2);
  CHECK(envs->spec().levels == 3);
  CHECK(envs->reset(1).obs == recycled_vector<float>{2, 2});
  envs->set_level(1);
  envs->step(all_take(0, 2));
  auto after = envs->step(all_take(0, 2));
  CHECK(after.finished.at(0).level == 2);
  CHECK(after.finished.at(0).final_obs == recycled_vector<float>{2});
  CHECK(after.obs == recycled_vector<float>{1, 1});
  envs->step(all_take(0, 2));
  after = envs->step(all_take(0, 2));
  CHECK(after.finished.at(1).level == 1);
  CHECK_THROWS_WITH(envs->set_level(3), Contains("expected a level below 3, got 3"));
}

TEST_CASE("python: a process that takes another one's place has its level") {
  auto request = world("good:Levels");
  request.python.replace_after_episodes = 1;
  const auto envs = make_vector_environment(request, 1);
  envs->set_level(0);
  CHECK(envs->reset(1).obs == recycled_vector<float>{0});
  envs->step(all_take(0, 1));
  const auto after = envs->step(all_take(0, 1));
  CHECK(after.process_replaced == "episodes");
  CHECK(after.obs == recycled_vector<float>{0});
}

TEST_CASE("python: an environment by itself, one in a wrapper and a team have levels") {
  std::vector<float> obs(1);
  auto request = world("good:Levels");
  const auto env = make_environment(request);
  env->set_level(1);
  env->reset(1, obs);
  CHECK(obs[0] == 1);
  request.python.wrappers = {"good.Halve"};
  CHECK(make_vector_environment(request, 1)->spec().levels == 3);
  CHECK(make_vector_environment(world("good:OfItsOwnLevels"), 1)->spec().levels == 1);
  const auto team = make_vector_environment(world("zoo:Levels"), 1);
  CHECK(team->spec().levels == 4);
  team->set_level(2);
  team->reset(1);
  env_actions actions;
  actions.discrete = {0, 0, 0};
  actions.continuous = {0, 0};
  CHECK(team->step(std::move(actions)).reward[0] == 2);
}

TEST_CASE("python: reset options of a request reach the first reset and those of a new process") {
  auto request = world("good:Counter");
  request.reset_options = R"({"first": 40})";
  const auto envs = make_vector_environment(request, 1);
  CHECK(envs->reset(1).obs[1] == 40);
  std::vector<float> obs(2);
  make_environment(request)->reset(1, obs);
  CHECK(obs[1] == 40);
  CHECK_THROWS_WITH(
      make_vector_environment({.id = "CartPole-v1", .reset_options = R"({"first": 40})"}, 1),
      Contains("CartPole-v1") && Contains("options"));
}

TEST_CASE("python: what modules print when they are imported is told once, other lines each time") {
  const testing::captured_stream log(stderr);
  for (int process = 0; process < 3; ++process)
    make_vector_environment(world("banner:World", nlohmann::json{{"length", process + 2}}.dump()),
                            1)
        ->reset(1);
  const auto count = [&log](const std::string& line) {
    const auto text = log.text();
    int times = 0;
    for (auto at = text.find(line); at != text.npos; at = text.find(line, at + 1)) ++times;
    return times;
  };
  CHECK(testing::eventually([&] { return count("an episode begins") == 3; }));
  CHECK(count("Hello from the banner") == 1);
}

TEST_CASE("python: what can't be made is told before anything runs") {
  const auto refuse = [](environment_request request, const char* expected) {
    CAPTURE(request.id);
    CHECK_THROWS_WITH(make_vector_environment(request, 1), Contains(expected));
  };
  refuse(world("misses:World"), "pip install 'a_package_that_is_missing'");
  refuse(world("no_such_module:World"), "No module named 'no_such_module'");
  refuse(world("good:Nothing"), "module good has no 'Nothing'");
  refuse(world("faulty:number"), "expected a class or a function, got 3");
  refuse(world("faulty:nothing"), "observation_space");
  refuse(world("faulty:UnknownSpace"), "got Graph");
  refuse(world("good:Counter", R"({"size": 3})"), "env.options: good:Counter takes");
  auto request = world("good:Counter");
  request.python.wrappers = {"good.Wrap"};
  refuse(request, "env.wrappers: module good has no 'Wrap'");
  request = world("good:Counter");
  request.python.interpreter = "/no/python";
  refuse(request, "python: expected a Python interpreter, got \"/no/python\"");
  request = {.id = "CartPole-v1", .python = {.wrappers = {"good.Halve"}}};
  refuse(request, "env.wrappers: expected none");
}

TEST_CASE("python: arguments of built-in environments are checked by their schema") {
  const auto windy = make_vector_environment(
      {.id = "LunarLander-v3", .options = R"({"gravity": -5, "enable_wind": true})"}, 1);
  CHECK(windy->spec().id == "LunarLander-v3");
  const auto refuse = [](const char* id, const char* options, const char* expected) {
    CHECK_THROWS_WITH(make_vector_environment({.id = id, .options = options}, 1),
                      Contains(expected));
  };
  refuse("LunarLander-v3", R"({"gravity": 5})",
         "LunarLander-v3: env.options/gravity: expected a number > -12 and < 0, got 5");
  refuse("LunarLander-v3", R"({"gravit": -5})", "env.options/gravit");
  refuse("Acrobot-v1", R"({"gravity": 5})", "Acrobot-v1: env.options: expected none");
}

task<> lose_processes(system& sys, std::map<std::string, int>& reasons) {
  const auto make = [] { return make_vector_environment(world("faulty:Dies"), 2); };
  auto envs = co_await sys.serve<hosted_environment>(
      {.name = "environments", .placement = placement::thread}, hosted_environment::factory(make),
      std::uint64_t{1}, env_observers{.failed = [&](const env_failure& f) {
        ++reasons[std::string(to_string(f.reason))];
      }});
  for (int i = 0; i < 3; ++i) {
    auto session = co_await envs.session({.exclusive = true});
    const auto seen = co_await session.route<&hosted_environment::observe>();
    CHECK(seen.begun);
    co_await session.route<&hosted_environment::step>(all_take(0, 2));
    co_await session.route<&hosted_environment::step>(all_take(0, 2));
    const auto lost = co_await session.try_route<&hosted_environment::step>(all_take(0, 2));
    CHECK(is_kind(lost.error(), error_kind::session_lost));
  }
}

TEST_CASE(
    "python: the service restarts a replica whose process has ended, and counts its episodes") {
  std::map<std::string, int> reasons;
  system sys({.threads = 1});
  sys.run(lose_processes(sys, reasons));
  CHECK(reasons == std::map<std::string, int>{{"lost", 6}});
}

/// Returns actions of chance for so many environments.
env_actions actions_of_chance(const space& of, std::size_t count, numpy_random& random) {
  env_actions actions;
  for (std::size_t i = 0; i < count; ++i) {
    if (const auto* discrete = of.get_if<spaces::discrete>()) {
      actions.discrete.push_back(discrete->start + random.integers(0, discrete->n));
    } else {
      const auto& box = *of.get_if<spaces::box>();
      for (std::size_t d = 0; d < box.low.size(); ++d)
        actions.continuous.push_back(float(random.uniform(box.low[d], box.high[d])));
    }
  }
  return actions;
}

// Run by gymnasium_test.sh. LunarLander is left out: it has another version of Box2D.
TEST_CASE("gymnasium: environments in Python are the built-in ones, bit for bit",
          "[.gymnasium_guest]") {
  const std::string id = GENERATE("CartPole-v0", "CartPole-v1", "Acrobot-v1", "MountainCar-v0",
                                  "MountainCarContinuous-v0", "Pendulum-v1", "Blackjack-v1");
  CAPTURE(id);
  const auto own = make_vector_environment(id, 3);
  const auto python = make_vector_environment(
      {.id = "gymnasium:" + id, .python = {.interpreter = std::getenv("TROUPE_GYMNASIUM_PYTHON")}},
      3);
  auto spec = python->spec();
  spec.id = id;
  CHECK(spec.action_space == own->spec().action_space);
  CHECK(spec.max_episode_steps == own->spec().max_episode_steps);
  CHECK(spec.reward_threshold == own->spec().reward_threshold);
  REQUIRE(python->reset(41).obs == own->reset(41).obs);
  numpy_random random(5);
  std::size_t episodes = 0;
  for (int step = 0; step < 1100; ++step) {
    CAPTURE(step);
    const auto actions = actions_of_chance(spec.action_space, 3, random);
    const auto expected = own->step(actions), got = python->step(actions);
    REQUIRE(got.obs == expected.obs);
    REQUIRE(got.reward == expected.reward);
    REQUIRE(got.terminated == expected.terminated);
    REQUIRE(got.truncated == expected.truncated);
    REQUIRE(got.finished.size() == expected.finished.size());
    for (std::size_t i = 0; i < got.finished.size(); ++i, ++episodes) {
      CHECK(got.finished[i].final_obs == expected.finished[i].final_obs);
      CHECK(got.finished[i].episode_return == expected.finished[i].episode_return);
    }
  }
  CHECK(episodes > 0);
}

}  // namespace
}  // namespace troupe
