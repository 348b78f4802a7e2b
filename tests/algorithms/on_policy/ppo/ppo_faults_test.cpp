#include "actors/torch/torch.hpp"

#include "actors/networks/model_file.hpp"
#include "actors/recorder/run_directory.hpp"
#include "algorithms/on_policy/ppo/ppo.hpp"
#include "runtime/base/log.hpp"
#include "runtime/metrics/registry.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/runtime/metrics/text.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

ppo_config short_run(training_mode mode, std::uint64_t seed, const std::string& faults) {
  ppo_config config;
  config.env = {.n_envs = 2};
  config.seed = seed;
  config.total_steps = 1024;
  config.mode = mode;
  config.rollout = {.n_steps = 32, .batch = 2, .workers = 3};
  config.trainer.batch_size = 32;
  config.trainer.n_epochs = 2;
  config.policy.hidden = {8};
  config.evaluation = {.every_steps = 256, .episodes = 2, .final_episodes = 2};
  config.deterministic = true;
  config.faults = faults;
  return config;
}

struct finished {
  run_summary summary;
  double restarts = 0;
};

/// Trains to the end; the weights it came to are finite.
finished train(const ppo_config& config, const std::filesystem::path& root) {
  log::set_level("off");
  const auto metrics = std::make_shared<metrics_registry>();
  const auto result = train(config, {.root = root}, {.metrics = metrics});
  log::set_level("info");
  REQUIRE(result.summary);
  CHECK(result.summary->steps == config.total_steps);
  const auto model = load_model(run_directory::open(result.run_directory).last_model());
  CHECK(model.parameters.isfinite().all().item<bool>());
  CHECK(model.policy_version == static_cast<std::uint64_t>(config.updates()));
  double restarts = 0;
  for (const char* service :
       {"environments", "policy", "trainer", "weights", "replay", "evaluator"}) {
    const auto name = std::string("troupe_replica_restarts_total{service=\"") + service + "\"}";
    const auto count = series(metrics->text(), name);
    restarts += std::isfinite(count) ? count : 0;
  }
  return {*result.summary, restarts};
}

TEST_CASE("train: random faults don't keep it from its end, with finite weights") {
  const temporary_folder folder;
  double restarts = 0;
  for (const auto mode : {training_mode::sync, training_mode::async}) {
    for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6}) {
      CAPTURE(static_cast<int>(mode), seed);
      auto config = short_run(mode, seed, "random");
      config.checkpoint.every_updates = seed % 2 == 0 ? 3 : 0;
      restarts += train(config, folder.path).restarts;
    }
  }
  CHECK(restarts > 100);
}

TEST_CASE("train: any role may crash, a little or often") {
  const temporary_folder folder;
  for (const auto mode : {training_mode::sync, training_mode::async}) {
    for (const char* faults : {"crash=0.001", "crash=0.03", "drop=0.01,delay=0.05:100ms"}) {
      CAPTURE(static_cast<int>(mode), faults);
      CHECK(train(short_run(mode, 3, faults), folder.path).restarts > 0);
    }
  }
}

TEST_CASE(
    "train: the same seed comes to the same weights under faults, and without them to "
    "others") {
  const temporary_folder folder;
  for (const auto mode : {training_mode::sync, training_mode::async}) {
    const auto config = short_run(mode, 5, "crash=0.005,delay=0.02");
    const auto first = train(config, folder.path).summary;
    CHECK(train(config, folder.path).summary.weights_sha256 == first.weights_sha256);
    CHECK(train(short_run(mode, 5, ""), folder.path).summary.weights_sha256 !=
          first.weights_sha256);
  }
}

}  // namespace
}  // namespace troupe
