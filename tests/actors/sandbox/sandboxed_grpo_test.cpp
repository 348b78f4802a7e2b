#include "actors/torch/torch.hpp"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "algorithms/language_models/grpo/config.hpp"
#include "algorithms/language_models/grpo/grpo.hpp"
#include "algorithms/language_models/grpo/grpo_evaluation.hpp"
#include "algorithms/language_models/grpo/grpo_task.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/algorithms/language_models/chat_model.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

/// One function to be written, which the warm start teaches by heart, well enough for some answers.
grpo_config code_run(const std::filesystem::path& model, training_mode mode) {
  grpo_config config;
  config.task = {.name = "code", .problems = {.size = 1, .training = 1, .held_out = 1}};
  config.model.path = model.string();
  config.mode = mode;
  config.seed = 5;
  config.total_steps = 2;
  config.code.wall_s = 60;
  config.warm_start = {.batches = 60, .batch_size = 1, .lr = 5e-3};
  config.rollout.prompts = config.rollout.group = 2;
  config.rollout.max_completion_tokens = 80;
  config.trainer.zero_variance_groups = zero_variance_rule::keep;
  config.evaluation = {.every_updates = 0, .problems = 1, .final_problems = 1, .stop_at = {}};
  return config;
}

run_summary run(const grpo_config& config, const std::filesystem::path& root) {
  auto result = train(algorithm_with(config), {.root = root.string()}, {});
  REQUIRE(result.summary);
  return *result.summary;
}

TEST_CASE("grpo: the code that a model writes runs in sandboxes in both modes") {
  const temporary_folder folder;
  testing::write_chat_model(folder.path / "model");
  for (const auto mode : {training_mode::sync, training_mode::async}) {
    const auto summary = run(code_run(folder.path / "model", mode), folder.path);
    CHECK(summary.rollouts_failed == 0);
    std::ifstream samples(std::filesystem::path(summary.run_directory) / "samples.jsonl");
    int answers = 0;
    for (std::string line; std::getline(samples, line);)
      answers += nlohmann::json::parse(line)["answers"].get<int>();
    CHECK(answers >= 8);
  }
}

TEST_CASE("grpo: a deterministic run with the recorded results of code gives the same weights") {
  const temporary_folder folder;
  testing::write_chat_model(folder.path / "model");
  auto config = code_run(folder.path / "model", training_mode::sync);
  config.task.record = (folder.path / "runs.jsonl").string();
  const auto recorded = run(config, folder.path);
  CHECK(recorded.rollouts_failed == 0);
  config.task.record = "";
  config.task.replay = (folder.path / "runs.jsonl").string();
  config.deterministic = true;
  const auto first = run(config, folder.path), second = run(config, folder.path);
  CHECK(first.rollouts_failed == 0);
  CHECK(first.weights_sha256 == second.weights_sha256);
  // The same seed has given the same answers while it was recorded.
  CHECK(first.weights_sha256 == recorded.weights_sha256);
  // Other answers are not in the recording.
  config.seed = 6;
  config.rollout.temperature = 5;
  CHECK_THROWS_WITH(run(config, folder.path), Catch::Contains("expected a run of this program"));
  // An evaluation runs programs.
  config.rollout.temperature = 1;
  const auto model = std::filesystem::path(first.run_directory) / "last_model";
  CHECK(evaluate_model(config, model, 1).mean == first.eval_mean);
  config.task.replay = (folder.path / "none.jsonl").string();
  CHECK_THROWS_WITH(algorithm_with(config),
                    Catch::Contains("/task/replay: ") && Catch::Contains("none.jsonl"));
}

}  // namespace
}  // namespace troupe
