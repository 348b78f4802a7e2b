#include "actors/torch/torch.hpp"

#include <array>
#include <optional>

#include "actors/openenv/server/server.hpp"
#include "actors/worlds/registry.hpp"
#include "algorithms/language_models/grpo/config.hpp"
#include "runtime/metrics/registry.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

TEST_CASE("grpo: a server that goes in the middle of games costs some of them, and no update") {
  const temporary_folder folder;
  metrics_registry metrics;
  std::array<std::optional<openenv_server::server>, 2> servers;
  grpo_config config;
  for (auto& each : servers) {
    each.emplace([] { return make_vector_environment("Blackjack-v1", 1); },
                 openenv_server::server_options{.port = 0}, metrics);
    config.world.urls.push_back("http://127.0.0.1:" + std::to_string(each->port()));
  }
  config.task.name = "blackjack";
  config.total_steps = 4;
  config.mode = training_mode::async;
  config.warm_start = {.batches = 10, .batch_size = 16, .lr = 3e-3};
  config.world.replicas = 8;
  config.rollout.prompts = config.rollout.group = 4;
  config.rollout.max_completion_tokens = 4;
  config.rollout.workers = 6;
  config.trainer.zero_variance_groups = zero_variance_rule::keep;
  config.evaluation = {.every_updates = 0, .problems = 1, .final_problems = 10, .stop_at = {}};
  int asked = 0;
  const run_options killing{.stop_asked = [&] {
    if (++asked == 1) servers[0].reset();
    return false;
  }};
  const auto result = train(algorithm_with(config), {.root = folder.path.string()}, killing);
  REQUIRE(result.summary);
  CHECK(result.summary->steps == 4);
  CHECK(result.summary->eval_episodes == 10);
}

}  // namespace
}  // namespace troupe
