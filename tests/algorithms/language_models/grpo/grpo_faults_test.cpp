// A GRPO run whose roles die, and whose messages are late or lost, at any moment.

#include "actors/torch/torch.hpp"

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "algorithms/language_models/grpo/config.hpp"
#include "runtime/base/log.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/runtime/metrics/text.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

grpo_config faulty_run(training_mode mode, std::uint64_t seed, const std::string& faults) {
  grpo_config config;
  config.task.problems = {.size = 2, .training = 60, .held_out = 10};
  config.total_steps = 4;
  config.seed = seed;
  config.mode = mode;
  config.deterministic = true;
  config.faults = faults;
  config.warm_start = {.batches = 2, .batch_size = 8, .lr = 1e-3};
  config.rollout.prompts = config.rollout.group = 3;
  config.rollout.max_completion_tokens = 3;
  config.rollout.workers = 5;
  config.rollout.max_staleness = 2;
  config.trainer.zero_variance_groups = zero_variance_rule::keep;
  config.evaluation = {.every_updates = 2, .problems = 2, .final_problems = 2, .stop_at = {}};
  config.checkpoint.every_updates = seed % 2 == 0 ? 2 : 0;
  return config;
}

struct finished {
  run_summary summary;
  double restarts = 0;
};

/// Trains to the end; every update has been made once, with whole groups none too stale.
finished train(const grpo_config& config) {
  const temporary_folder folder;
  log::set_level("off");
  const run_options options{.metrics = std::make_shared<metrics_registry>()};
  const auto result = train(algorithm_with(config), {.root = folder.path.string()}, options);
  log::set_level("info");
  REQUIRE(result.summary);
  CHECK(result.summary->steps == config.total_steps);
  CHECK(std::isfinite(result.summary->eval_mean));
  std::ifstream samples(std::filesystem::path(result.summary->run_directory) / "samples.jsonl");
  std::int64_t groups = 0;
  for (std::string line; std::getline(samples, line); ++groups) {
    const auto sample = nlohmann::json::parse(line);
    CHECK(sample.at("update") == groups / *config.rollout.prompts + 1);
    CHECK(sample.at("answers") == config.rollout.group);
    CHECK(sample.at("staleness") <=
          (config.mode == training_mode::sync ? 1 : config.rollout.max_staleness));
  }
  CHECK(groups == config.total_steps * *config.rollout.prompts);
  double restarts = 0;
  for (const char* service : {"trainer", "weights", "generator", "prompts", "evaluation_prompts",
                              "final_prompts", "rewards", "replay"}) {
    const auto name = std::string("troupe_replica_restarts_total{service=\"") + service + "\"}";
    const auto count = series(options.metrics->text(), name);
    restarts += std::isfinite(count) ? count : 0;
  }
  return {*result.summary, restarts};
}

TEST_CASE("grpo: faults don't keep a run from its end, and the same seed ends the same") {
  for (const auto mode : {training_mode::sync, training_mode::async}) {
    double restarts = 0;
    for (const std::uint64_t seed : {1, 2, 3, 4}) {
      CAPTURE(int(mode), seed);
      restarts += train(faulty_run(mode, seed, "random")).restarts;
    }
    CHECK(restarts > 0);
    auto faulty = faulty_run(mode, 2, "crash=0.01,delay=0.02");
    for (const int rank : {0, 2}) {
      faulty.trainer.lora.rank = rank;
      const auto first = train(faulty);
      CHECK(first.restarts > 0);
      CHECK(train(faulty).summary.weights_sha256 == first.summary.weights_sha256);
    }
  }
}

}  // namespace
}  // namespace troupe
