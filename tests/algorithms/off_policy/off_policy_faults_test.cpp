// A cast whose roles die at any moment comes to its end all the same.

#include "actors/torch/torch.hpp"

#include "actors/networks/model_file.hpp"
#include "algorithms/off_policy/dqn/dqn.hpp"
#include "algorithms/off_policy/sac/sac.hpp"
#include "runtime/base/log.hpp"
#include "tests/algorithms/stage.hpp"
#include "tests/runtime/metrics/text.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using namespace testing;

template <class Config>
Config short_run(training_mode mode, std::uint64_t seed, const std::string& faults) {
  Config config;
  config.env.n_envs = 2;
  config.seed = seed;
  config.total_steps = 300;
  config.mode = mode;
  config.collection = {.learning_starts = 58,
                       .train_freq = 3,
                       .gradient_steps = 2,
                       .workers = 3,
                       .max_staleness = 2};
  config.replay.capacity = 200;
  config.trainer.batch_size = 8;
  config.policy.hidden = {8};
  config.evaluation = {.every_steps = 100, .episodes = 1, .final_episodes = 1};
  config.deterministic = true;
  config.faults = faults;
  return config;
}

struct finished {
  run_summary summary;
  double restarts = 0;
};

/// Trains to the end; the weights it came to are finite, and every update has been made once.
template <class Config>
finished train(const Config& config) {
  log::set_level("off");
  stage on;
  const auto summary = on.run(algorithm_with(config), "run").summary;
  log::set_level("info");
  REQUIRE(summary);
  CHECK(summary->steps >= config.total_steps);
  const auto model = load_model(std::filesystem::path(summary->run_directory) / "last_model");
  CHECK(model.parameters.isfinite().all().template item<bool>());
  CHECK(model.policy_version == static_cast<std::uint64_t>(config.updates()));
  double restarts = 0;
  for (const char* service :
       {"collectors", "trainer", "weights", "replay", "evaluator", "final_evaluator"}) {
    const auto name = std::string("troupe_replica_restarts_total{service=\"") + service + "\"}";
    const auto count = series(on.metrics->text(), name);
    restarts += std::isfinite(count) ? count : 0;
  }
  return {*summary, restarts};
}

TEST_CASE("off-policy run: random faults don't keep it from its end, with finite weights") {
  double restarts = 0;
  for (const auto mode : {training_mode::sync, training_mode::async}) {
    for (const std::uint64_t seed : {1, 2, 3, 4}) {
      CAPTURE(static_cast<int>(mode), seed);
      auto dqn = short_run<dqn_config>(mode, seed, "random");
      dqn.checkpoint.every_updates = seed % 2 == 0 ? 10 : 0;
      restarts += train(dqn).restarts;
      auto sac = short_run<sac_config>(mode, seed, "random");
      sac.replay.prioritised = priority_options{};
      sac.env.normalize_obs = sac.env.normalize_reward = true;
      restarts += train(sac).restarts;
    }
  }
  CHECK(restarts > 100);
}

TEST_CASE("off-policy run: any role may crash, a little or often") {
  for (const auto mode : {training_mode::sync, training_mode::async}) {
    for (const char* faults : {"crash=0.003", "crash=0.03", "drop=0.01,delay=0.05:100ms"}) {
      CAPTURE(static_cast<int>(mode), faults);
      CHECK(train(short_run<dqn_config>(mode, 3, faults)).restarts > 0);
    }
  }
}

TEST_CASE("off-policy run: the same seed comes to the same weights under faults") {
  for (const auto mode : {training_mode::sync, training_mode::async}) {
    const auto config = short_run<dqn_config>(mode, 5, "crash=0.02,delay=0.02");
    const auto first = train(config).summary;
    CHECK(train(config).summary.weights_sha256 == first.weights_sha256);
    CHECK(train(short_run<dqn_config>(mode, 5, "")).summary.weights_sha256 != first.weights_sha256);
  }
}

}  // namespace
}  // namespace troupe
