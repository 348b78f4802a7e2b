// Runs in worlds that are recorded and replayed, and runs whose episodes see one version each.

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "actors/text/recorded_episodes.hpp"
#include "algorithms/language_models/grpo/config.hpp"
#include "runtime/metrics/registry.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/algorithms/language_models/grpo/run_and_samples.hpp"
#include "tests/algorithms/language_models/grpo/weight_bytes.hpp"
#include "tests/algorithms/stop_after.hpp"
#include "tests/paths.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using Catch::Matchers::Contains;
using testing::run, testing::samples_of, testing::weight_bytes;

grpo_config small_run() {
  grpo_config config;
  config.total_steps = 4;
  config.seed = 5;
  config.rollout.prompts = config.rollout.group = 4;
  config.rollout.max_completion_tokens = 4;
  config.rollout.workers = 6;
  config.rollout.max_staleness = 2;
  config.warm_start.batches = 0;
  config.evaluation = {.every_updates = 2, .problems = 4, .final_problems = 6, .stop_at = {}};
  return config;
}

grpo_config world_in_python() {
  ::setenv("PYTHONPATH", testing::source_path("tests/actors/python/functions").c_str(), 1);
  auto config = small_run();
  config.python.interpreter = "/usr/bin/python3";
  config.task.world = "text_worlds:SaysA";
  config.task.world_options.text = R"({"turns": 2})";
  config.model.layers = 1;
  config.model.hidden_size = 32;
  config.model.max_positions = 128;
  config.world.replicas = 2;
  return config;
}

TEST_CASE(
    "grpo: a recorded world is replayed to the same weights, deterministically and without it") {
  const temporary_folder folder;
  const auto path = (folder.path / "episodes.jsonl").string();
  auto config = world_in_python();
  config.task.record = path;
  config.world.turns = 1;  // the world would go on
  config.checkpoint.every_updates = 1;
  const auto first = run(config, (folder.path / "first").string());
  CHECK_THROWS_WITH(run(config, (folder.path / "again").string()),
                    Contains("expected no file or an empty one"));

  config.task.record.clear();
  config.task.replay = path;
  config.python.interpreter = "/no/python";  // none is needed
  config.deterministic = true;
  const auto wanted = weight_bytes(std::filesystem::path(first.run_directory) / "last_model");
  for (const auto* name : {"second", "third"}) {
    const auto replayed = run(config, (folder.path / name).string());
    CHECK(weight_bytes(std::filesystem::path(replayed.run_directory) / "last_model") == wanted);
    CHECK(replayed.summary->eval_mean == first.summary->eval_mean);
  }
}

TEST_CASE("grpo: a recording goes on at the checkpoint of a resumed run") {
  const temporary_folder folder;
  auto config = world_in_python();
  config.checkpoint.every_updates = 1;
  const auto record = [&](const std::string& name) {
    config.task.record = (folder.path / (name + ".jsonl")).string();
    return algorithm_with(config);
  };
  const auto whole = record("whole");
  train(whole, {.root = (folder.path / "whole").string()}, {});
  const auto halves = record("halves");
  const auto stopped =
      train(halves, {.root = (folder.path / "halves").string()}, testing::stop_after(2));
  metrics_registry metrics;
  auto from = newest_checkpoint(stopped.run_directory, halves.settings, metrics);
  train(halves, {.directory = stopped.run_directory}, {}, std::move(from));
  // The ids go on from the size of the file, so they are left out.
  const auto lines = [&](const std::string& name) {
    std::multiset<std::string> found;
    std::ifstream file(folder.path / (name + ".jsonl"));
    for (std::string line; std::getline(file, line);) {
      auto told = nlohmann::json::parse(line);
      told.erase("id");
      found.insert(told.dump());
    }
    return found;
  };
  CHECK(lines("halves") == lines("whole"));
}

TEST_CASE("grpo: each episode of a group is recorded under a number of its own") {
  const temporary_folder folder;
  auto config = world_in_python();
  config.task.record = (folder.path / "episodes.jsonl").string();
  config.total_steps = 1;
  config.evaluation.every_updates = 0;
  run(config, folder.path.string());
  std::map<std::uint64_t, std::set<std::uint64_t>> numbers;  // of each seed
  std::ifstream file(config.task.record);
  for (std::string line; std::getline(file, line);) {
    const auto told = nlohmann::json::parse(line);
    if (told.contains("seed"))
      numbers[told["seed"]].insert(told.at("episode").get<std::uint64_t>());
  }
  const std::set<std::uint64_t> of_a_group{0, 1, 2, 3};
  CHECK(std::ranges::count_if(numbers,
                              [&](const auto& each) { return each.second == of_a_group; }) == 4);
}

TEST_CASE("grpo: recordings that can't be are refused") {
  const auto refuse = [](grpo_config config, const char* expected) {
    CHECK_THROWS_WITH(algorithm_with(config), Contains(expected));
  };
  auto config = small_run();
  config.task.record = "a";
  refuse(config,
         "/task/record: expected \"\" for a task that is no world and runs no code, got \"");
  config.task.world = "blackjack";
  config.mode = training_mode::async;
  refuse(config, "/task/record: expected \"\" in async mode");
  config.mode = training_mode::sync;
  config.task.replay = "b";
  refuse(config, "/task/record: expected \"\" beside task.replay");
}

/// The versions of the turns of each sample.
std::vector<std::set<std::int64_t>> versions_of(bool partial) {
  const temporary_folder folder;
  auto config = small_run();
  config.task.world = "blackjack";
  config.mode = training_mode::async;
  config.deterministic = true;
  config.total_steps = 8;
  config.rollout.partial = partial;
  config.evaluation.every_updates = 0;
  config.warm_start = {.batches = 20, .batch_size = 32, .lr = 3e-3};
  const auto done = run(config, folder.path.string());
  CHECK(done.summary->steps == 8);
  std::vector<std::set<std::int64_t>> versions;
  for (const auto& sample : samples_of(done.run_directory)) {
    for (const auto* which : {"best", "worst"}) {
      auto& seen = versions.emplace_back();
      for (const auto& turn : sample[which]["turns"])
        for (const auto& version : turn["versions"]) seen.insert(version.get<std::int64_t>());
    }
  }
  return versions;
}

TEST_CASE("grpo: without partial episodes each of them sees one version of the weights") {
  for (const auto& seen : versions_of(false)) CHECK(seen.size() == 1);
  const auto partial = versions_of(true);
  CHECK(std::ranges::any_of(partial, [](const auto& seen) { return seen.size() > 1; }));
}

}  // namespace
}  // namespace troupe
