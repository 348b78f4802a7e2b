#include "actors/torch.hpp"

#include <fstream>
#include <nlohmann/json.hpp>

#include "algorithms/grpo/grpo_config.hpp"
#include "runtime/metrics/registry.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

/// Four updates, each of four groups of four answers.
grpo_config small_run(training_mode mode) {
  grpo_config config;
  config.total_steps = 4;
  config.seed = 5;
  config.mode = mode;
  config.deterministic = true;
  config.warm_start = {.batches = 3, .batch_size = 8, .lr = 1e-3};
  config.rollout.prompts = config.rollout.group = 4;
  config.rollout.answer_tokens = 4;
  config.rollout.workers = 6;
  config.rollout.max_staleness = 2;
  config.trainer.flat_groups = flat_group_rule::keep;
  config.evaluation = {.every_updates = 2, .problems = 4, .final_problems = 6, .stop_at = {}};
  return config;
}

training_summary run(const grpo_config& config, const std::string& root) {
  auto result = run_training(trainable_of(config), {.root = root}, {});
  REQUIRE(result.summary);
  return *result.summary;
}

TEST_CASE("grpo: a run leaves its configuration, numbers, samples and models behind") {
  const temporary_folder folder;
  for (const auto mode : {training_mode::sync, training_mode::async}) {
    const auto summary = run(small_run(mode), folder.path.string());
    CHECK(summary.steps == 4);
    CHECK(summary.env == "sum_digits");
    CHECK(summary.eval_episodes == 6);
    CHECK(summary.rollouts_failed == 0);
    CHECK(summary.staleness_max <= (mode == training_mode::sync ? 0 : 2));
    const std::filesystem::path run = summary.run_directory;
    for (const auto* name : {"config.json", "progress.csv", "summary.json", "samples.jsonl",
                             "last_model/model.safetensors", "last_model/config.json"}) {
      CAPTURE(name);
      CHECK(std::filesystem::exists(run / name));
    }
    std::ifstream samples(run / "samples.jsonl");
    int lines = 0;
    for (std::string line; std::getline(samples, line); ++lines) {
      const auto sample = nlohmann::json::parse(line);
      CHECK(sample["best"]["reward"] >= sample["worst"]["reward"]);
      CHECK(sample["answers"] == 4);
    }
    CHECK(lines == 4 * 4);
  }
}

TEST_CASE("grpo: a run that is stopped and resumed ends with the weights of one that wasn't") {
  const temporary_folder folder;
  for (const auto mode : {training_mode::sync, training_mode::async}) {
    auto config = small_run(mode);
    config.checkpoint.every_updates = 2;
    const auto whole = run(config, folder.path.string());

    int asked = 0;
    const training_run_options stopping{.stop_asked = [&] { return ++asked > 2; }};
    const auto stopped =
        run_training(trainable_of(config), {.root = folder.path.string()}, stopping);
    REQUIRE(!stopped.summary);
    metrics_registry metrics;
    const auto what = trainable_of(config);
    auto from = newest_checkpoint(stopped.run_directory, what.settings, metrics);
    REQUIRE(from);
    const auto resumed =
        run_training(what, {.directory = stopped.run_directory}, {}, std::move(from));
    REQUIRE(resumed.summary);
    CHECK(resumed.summary->weights_sha256 == whole.weights_sha256);
    CHECK(resumed.summary->eval_mean == whole.eval_mean);
  }
}

TEST_CASE("grpo: a configuration that makes no sense is refused by name") {
  const auto refusal = [](const char* text) {
    try {
      parse_config<grpo_config>(nlohmann::json::parse(text));
    } catch (const config_error& e) {
      return std::string(e.what());
    }
    return std::string("taken");
  };
  CHECK(refusal("{}") == "taken");
  CHECK_THAT(refusal(R"({"rollout": {"group": 1}})"), Catch::Contains("group of at least 2"));
  CHECK_THAT(refusal(R"({"task": {"name": "sums"}})"), Catch::Contains("/task/name"));
  CHECK_THAT(refusal(R"({"trainer": {"beta": 0.1}})"), Catch::Contains("kl_coef"));
  CHECK_THAT(refusal(R"({"evaluation": {"problems": 101}})"), Catch::Contains("held_out"));
  grpo_config config;
  config.task.problems.training = 100'000;
  CHECK_THROWS_WITH(trainable_of(config).check(),
                    Catch::Contains("as many as there are of size 3"));
}

}  // namespace
}  // namespace troupe
