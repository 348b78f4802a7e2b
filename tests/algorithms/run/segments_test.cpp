// What a run keeps from one checkpoint to the next, and the time that it tells.

#include "actors/torch/torch.hpp"

#include <thread>

#include "actors/worlds/registry.hpp"
#include "algorithms/on_policy/ppo/ppo.hpp"
#include "algorithms/run/train.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

/// Eight updates, of 64 environment steps, with a checkpoint after each.
ppo_config with_checkpoints() {
  ppo_config config;
  config.env.n_envs = 2;
  config.total_steps = 8 * 64;
  config.rollout.n_steps = 32;
  config.trainer.batch_size = 32;
  config.trainer.n_epochs = 1;
  config.policy.hidden = {8};
  config.evaluation.every_steps = 0;
  config.evaluation.final_episodes = 1;
  config.checkpoint.every_updates = 1;
  return config;
}

TEST_CASE("segments: the time of checkpoints is part of wall_s") {
  const temporary_folder folder;
  constexpr auto pause = std::chrono::milliseconds(40);
  int saves = 0;
  const auto save = [&] {
    ++saves;
    std::this_thread::sleep_for(pause);
    return std::string("nothing");
  };
  const auto began = std::chrono::steady_clock::now();
  const auto summary = train(algorithm_with(with_checkpoints()), {.root = folder.path},
                             {.callbacks = {.save = save, .restore = [](const std::string&) {}}})
                           .summary.value();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  CHECK(saves == 8);
  const std::chrono::duration<double> between = 7 * pause;  // The last one comes after training.
  CHECK(summary.wall_s >= between.count());
  CHECK(summary.wall_s <= took.count());
  CHECK(summary.steps_per_s <= 512 / between.count());
}

/// What was seen of a counter after each update.
struct sight {
  std::shared_ptr<metrics_registry> metrics;
  double last = 0;
  int falls = 0, looks = 0;
};

task<loops::verdict> look(sight& seen) {
  const std::string name =
      "\ntroupe_requests_total{outcome=\"ok\",route=\"weight_store::put\",service=\"weights\"} ";
  const auto text = seen.metrics->text();
  const auto at = text.find(name);
  const double count = at == text.npos ? 0 : std::stod(text.substr(at + name.size(), 24));
  seen.falls += count < seen.last;
  seen.last = count;
  ++seen.looks;
  co_return loops::verdict::go_on;
}

TEST_CASE("segments: counts of services go on from one to the next") {
  const temporary_folder folder;
  sight seen{.metrics = std::make_shared<metrics_registry>()};
  const auto on_update = [&seen](loops::progress, run_control&) { return look(seen); };
  train(algorithm_with(with_checkpoints()), {.root = folder.path},
        {.metrics = seen.metrics, .callbacks = {.on_update = on_update}});
  CHECK(seen.looks == 8);
  CHECK(seen.falls == 0);
  CHECK(seen.last >= 7);
}

task<loops::verdict> fail(loops::progress, run_control&) {
  throw call_error(error_kind::service_down, "envs: they hang");
  co_return loops::verdict::go_on;
}

TEST_CASE("segments: the error of a run is told once, and before its system ends") {
  const temporary_folder folder;
  auto config = with_checkpoints();
  SECTION("with checkpoints") {}
  SECTION("without checkpoints") { config.checkpoint.every_updates = 0; }
  const auto metrics = std::make_shared<metrics_registry>();
  std::vector<std::string> told;
  const auto on_error = [&](const call_error& error) {
    told.emplace_back(error.what());
    // This gauge goes with its system.
    CHECK(metrics->text().find("\ntroupe_driver_stalled_seconds ") != std::string::npos);
  };
  CHECK_THROWS_AS(
      train(algorithm_with(config), {.root = folder.path},
            {.metrics = metrics, .on_error = on_error, .callbacks = {.on_update = fail}}),
      call_error);
  CHECK(told == std::vector<std::string>{"service_down: envs: they hang"});
  CHECK(metrics->text().find("\ntroupe_driver_stalled_seconds ") == std::string::npos);
}

}  // namespace
}  // namespace troupe
