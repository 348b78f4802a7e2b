#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "actors/llm/tasks/python_problems.hpp"
#include "actors/reward/text_reward.hpp"
#include "algorithms/language_models/grpo/grpo_algorithm.hpp"
#include "algorithms/language_models/grpo/grpo_defaults.hpp"
#include "algorithms/language_models/grpo/grpo_evaluation.hpp"
#include "runtime/base/log.hpp"
#include "runtime/metrics/registry.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/algorithms/language_models/grpo/run_and_samples.hpp"
#include "tests/algorithms/stop_after.hpp"
#include "tests/paths.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using Catch::Matchers::Contains;
using nlohmann::json;
using testing::run, testing::samples_of;

/// Four updates, each of four groups of four answers, with a reward or a task in Python.
grpo_config small_run(const std::string& task, std::vector<std::string> reward) {
  ::setenv("PYTHONPATH", testing::source_path("tests/actors/python/functions").c_str(), 1);
  grpo_config config;
  config.task.name = task;
  config.reward = std::move(reward);
  config.python = {.interpreter = "/usr/bin/python3"};
  config.total_steps = 4;
  config.rollout.prompts = config.rollout.group = 4;
  config.rollout.max_completion_tokens = 4;
  config.checkpoint.every_updates = 1;
  config.evaluation = {.every_updates = 2, .problems = 4, .final_problems = 6, .stop_at = {}};
  return config;
}

grpo_config own_task(const std::string& items, std::vector<std::string> reward = {}) {
  auto config = small_run("python:items:" + items, std::move(reward));
  config.task.problems.held_out = 10;
  return config;
}

TEST_CASE("grpo: a run with a reward in Python learns from its values and reports their mean") {
  const temporary_folder folder;
  auto config = small_run("sum_digits", {"python:rewards:right", "python:rewards:length"});
  config.reward_weights = {2, 0.25};
  config.warm_start = {.batches = 3, .batch_size = 8, .lr = 1e-3};
  const auto result = run(config, folder.path.string());
  REQUIRE(result.summary);
  const std::filesystem::path run = result.run_directory;
  const auto samples = samples_of(run);
  CHECK(samples.size() == 4 * 4);
  for (const auto& sample : samples) {
    for (const auto* which : {"best", "worst"}) {
      const std::string text = sample[which]["text"];
      const double right = sample["expected"] == text ? 1 : 0;
      CHECK(sample[which]["reward"] == 2 * right + 0.25 * double(text.size()));
    }
  }
  CHECK(result.summary->eval_mean > 0);
  CHECK(evaluate_model(config, run / "last_model", 6).mean == result.summary->eval_mean);
}

TEST_CASE("grpo: samples say what a reward did not understand in an answer") {
  const temporary_folder folder;
  auto config = small_run("sum_digits", {"exact", "format:json"});
  config.warm_start.batches = 0;
  const auto result = run(config, folder.path.string());
  int noted = 0;
  for (const auto& sample : samples_of(result.run_directory)) {
    for (const auto* which : {"best", "worst"}) {
      const auto& answer = sample[which];
      const bool is_read = json::accept(answer["text"].get<std::string>());
      CHECK(answer.contains("note") == !is_read);
      if (is_read) continue;
      ++noted;
      CHECK(answer["note"] == "format:json: no JSON");
    }
  }
  CHECK(noted > 0);
}

TEST_CASE("grpo: the items of a task in Python are asked once each, also by a resumed run") {
  const temporary_folder folder;
  const auto what = algorithm_with(own_task("endless", {"python:rewards:length"}));
  what.check();
  const auto stopped = train(what, {.root = folder.path.string()}, testing::stop_after(2));
  REQUIRE(!stopped.summary);
  metrics_registry metrics;
  auto from = newest_checkpoint(stopped.run_directory, what.settings, metrics);
  REQUIRE(from);
  const auto resumed = train(what, {.directory = stopped.run_directory}, {}, std::move(from));
  REQUIRE(resumed.summary);
  std::multiset<std::string> asked, expected;
  for (const auto& sample : samples_of(resumed.run_directory)) asked.insert(sample["question"]);
  // The first ten items are held out.
  for (int i = 10; i < 10 + 4 * 4; ++i) expected.insert(std::to_string(i) + '=');
  CHECK(asked == expected);
}

TEST_CASE("grpo: a task in Python without a reward compares answers, epoch after epoch") {
  const temporary_folder folder;
  auto config = own_task("counted");
  config.task.problems = {.training = 10, .held_out = 2};
  config.warm_start = {.batches = 40, .batch_size = 8, .lr = 5e-3};
  config.evaluation = {.every_updates = 0, .problems = 1, .final_problems = 2, .stop_at = {}};
  const auto result = run(config, folder.path.string());
  REQUIRE(result.summary);
  std::set<std::string> asked;
  for (const auto& sample : samples_of(result.run_directory)) {
    asked.insert(sample["question"]);
    const std::string best = sample["best"]["text"];
    CHECK(sample["best"]["reward"] == exact_match(best, sample["expected"].get<std::string>()));
  }
  CHECK(asked == std::set<std::string>{"2+2=", "3+3=", "4+4="});
  const auto name = std::filesystem::path(result.run_directory).filename().string();
  CHECK_THAT(name, Contains("counted"));
}

void refuse(const grpo_config& config, const char* expected) {
  CAPTURE(expected);
  CHECK_THROWS_WITH(algorithm_with(config).check(), Contains(expected));
}

grpo_config read(const char* text) { return parse_config<grpo_config>(json::parse(text)); }

TEST_CASE("grpo: rewards and tasks in Python that can't be are refused before the run") {
  refuse(small_run("sum_digits", {"python:rewards:nothing"}), "module rewards has no 'nothing'");
  refuse(small_run("sum_digits", {"python:rewards:needs_level"}),
         "rewards:needs_level: it takes 'level', but there are prompts, completions, "
         "completion_ids, trainer_state and the columns: answer");
  refuse(small_run("sum_digits", {"python:misses_a_package:score"}),
         "pip install 'a_package_that_is_missing'");
  refuse(small_run("blackjack", {"python:rewards:right"}), "/reward: expected [] for blackjack");
  refuse(own_task("nothing"), "module items has no 'nothing'");
  refuse(own_task("no_prompt"), "items:no_prompt: item 0: expected the key \"prompt\"");
  refuse(own_task("throws"), "LookupError: the file has ended");
  refuse(
      own_task("ends_with_the_assistant"),
      "items:ends_with_the_assistant: item 0: prompt: expected a last message of the role user or "
      "tool, got assistant");
  refuse(own_task("endless"), "expected the key \"answer\" in each item");
  refuse(own_task("counted"),
         "/task/problems/held_out: expected fewer than the 5 different prompts in 5 items of "
         "items:counted");
  auto config = own_task("endless", {"python:rewards:length"});
  config.warm_start.batches = 1;
  refuse(config, "expected a right answer to each problem");
  config = own_task("counted");
  config.deterministic = true;
  refuse(config, "/deterministic: expected false with the problems of python:items:counted");
  config.reward = {"python:rewards:length"};
  refuse(config, "/deterministic: expected false with the reward python:rewards:length");
  config = own_task("endless", {"python:rewards:length"});
  config.task.name = "python:items";
  refuse(config, "/task/name: expected python:MODULE:FUNCTION, got \"python:items\"");
  config.python.interpreter = "/no/python";
  config.task.name = "python:items:endless";
  refuse(config, "python: expected a Python interpreter, got \"/no/python\"");
}

TEST_CASE("grpo: the prompts of a generator in Python may be conversations") {
  const auto config = own_task("conversations");
  const auto made = llm::first_problems(config.python_items("items:conversations"),
                                        {.training = 5, .held_out = 2});
  // They end alike, but they are different prompts.
  REQUIRE(made.held_out.size() == 2);
  REQUIRE(made.training.size() == 1);
  CHECK(made.held_out[0].messages.size() == 2);
  CHECK(made.held_out[0].messages[0].role == "system");
  CHECK(made.held_out[0].expected == "8");
  CHECK(made.held_out[0].tools ==
        R"([{"type":"function","function":{"name":"add","description":"Adds."}}])");
  CHECK(made.held_out[1].messages.size() == 3);
  CHECK(made.held_out[1].tools.empty());
  CHECK(made.training[0].messages.size() == 1);
  for (const auto& each : made.held_out) CHECK(each.question == "4+4=");
}

TEST_CASE("grpo: options of rewards in Python are checked") {
  const auto config =
      read(R"({"reward": ["python:a:b", "exact", "python:a:c"], "reward_weights": [1, 2, 0.5]})");
  const auto part = part_of(config, find_task("sum_digits"));
  const auto python = part.config.python_rewards();
  CHECK(python.functions == std::vector<std::string>{"a:b", "a:c"});
  CHECK(python.weights == std::vector<double>{1, 0.5});
  const auto others = rewards_of(part);
  REQUIRE(others.size() == 1);
  CHECK(others[0].name == "exact");
  CHECK(others[0].weight == 2);
  const auto refuse_text = [](const char* text, const char* expected) {
    CHECK_THROWS_WITH(read(text), Contains(expected));
  };
  refuse_text(R"({"reward": ["a:b"]})", "/reward: expected exact, numeric");
  refuse_text(R"({"reward": ["python:a:b", "python:a:b"]})", "each once");
  refuse_text(R"({"reward": ["python:a:b"], "reward_weights": [1, 2]})",
              "/reward_weights: expected [], or as many as reward has functions, 1");
}

TEST_CASE("grpo: one reward in Python needs no list on the command line") {
  json document{{"reward", "python:a:b"}};
  grpo_algorithm().complete(document);
  CHECK(document == json{{"reward", {"python:a:b"}}});
}

TEST_CASE("grpo: options of Python that have no effect are told") {
  const auto idle = [](const grpo_config& config) {
    std::set<std::string> names;
    const auto used = completed(config, find_task(config.task.name));
    for (const auto& each : idle_options_of(config, used)) names.insert(each.name);
    return names;
  };
  grpo_config config;
  config.python = {.interpreter = "python3", .workers = 2, .prompt_timeout = 5};
  CHECK(idle(config) ==
        std::set<std::string>{"python.interpreter", "python.workers", "python.prompt_timeout"});
  config.task = {.name = "python:a:b", .problems = {.size = 2, .training = 9, .held_out = 9}};
  CHECK(idle(config) ==
        std::set<std::string>{"python.workers", "task.problems.size", "task.problems.training"});
  config.warm_start.batches = 3;
  config.reward = {"python:a:b"};
  CHECK(idle(config) == std::set<std::string>{"task.problems.size"});
}

TEST_CASE("grpo: a reward that always throws ends the run with its reason") {
  const temporary_folder folder;
  auto config = small_run("sum_digits", {"python:rewards:throws"});
  config.warm_start.batches = 0;
  config.evaluation.every_updates = 0;
  log::set_level("off");
  CHECK_THROWS_WITH(run(config, folder.path.string()),
                    Contains("dropped, by reason: reward") &&
                        Contains("the last error: reward \"rewards:throws\": KeyError: "
                                 "'no such answer'"));
  log::set_level("info");
}

TEST_CASE("grpo: a reward that always ends its process or hangs ends the run after few answers") {
  const std::string function = GENERATE("always_dies", "always_hangs");
  CAPTURE(function);
  const temporary_folder folder;
  const auto calls = folder.path / "calls";
  ::setenv("TROUPE_TEST_CALLS", calls.c_str(), 1);
  auto config = small_run("sum_digits", {"python:rewards:" + function});
  config.python.reward_timeout = function == "always_hangs" ? 0.1 : 20;
  config.warm_start.batches = 0;
  log::set_level("off");
  CHECK_THROWS_WITH(run(config, folder.path.string()),
                    // 16 make it broken; another group may ask for one answer more.
                    Contains("reward \"rewards:" + function +
                             "\": it was late or ended its process "
                             "for each of the last 1") &&
                        Contains(" answers; the last time: "));
  log::set_level("info");
  // A call for each of the answers, and a few for several of the first ones together.
  CHECK(std::filesystem::file_size(calls) <= 32);
}

}  // namespace
}  // namespace troupe
