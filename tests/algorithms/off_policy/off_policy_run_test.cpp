#include "actors/torch/torch.hpp"

#include "actors/networks/model_file.hpp"
#include "tests/algorithms/off_policy/toy_rule.hpp"
#include "tests/algorithms/stage.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using namespace testing;

off_policy_config short_run(training_mode mode, const std::string& env) {
  off_policy_config config;
  config.env = {.id = env, .n_envs = 2};
  config.total_steps = 600;
  config.mode = mode;
  config.collection = {.learning_starts = 100,
                       .train_freq = 3,
                       .gradient_steps = 2,
                       .workers = 3,
                       .max_staleness = 4};
  config.replay.capacity = 350;
  config.evaluation = {.every_steps = 200, .episodes = 2, .final_episodes = 2};
  config.deterministic = true;
  return config;
}

TEST_CASE("off-policy run: as many steps and gradient steps as Stable-Baselines3 takes") {
  stage on;
  auto config = short_run(training_mode::sync, "CartPole-v1");
  config.log.episodes = 1;
  const auto summary = on.run(toy_algorithm(config, network_kind::q_values), "run").summary.value();
  // 6 steps a collection: after 16 there are 96 <= learning_starts steps, after 100 there are 600.
  CHECK(config.warm_up() == 16);
  CHECK(config.updates() == 84);
  CHECK(summary.steps == 600);
  CHECK(summary.staleness_max == 0);
  const auto model = load_model(std::filesystem::path(summary.run_directory) / "last_model");
  CHECK(model.policy_version == 84);
  CHECK(model.options.kind == network_kind::q_values);
  CHECK(weights_sha256(model.parameters) == summary.weights_sha256);

  const auto csv = read_text(std::filesystem::path(summary.run_directory) / "progress.csv");
  CHECK(csv.find("rollout/exploration_rate") != std::string::npos);
  CHECK(csv.find("rollout/ep_rew_mean") != std::string::npos);
  CHECK(csv.find("train/n_updates") != std::string::npos);
}

task<loops::verdict> note(std::vector<loops::progress>& to, loops::progress now) {
  to.push_back(now);
  co_return loops::verdict::go_on;
}

TEST_CASE("off-policy run: progress counts from the run's beginning, what fills the replay too") {
  stage on;
  for (const std::int64_t checkpoint_every : {0, 20}) {
    CAPTURE(checkpoint_every);
    auto config = short_run(training_mode::sync, "CartPole-v1");
    config.checkpoint.every_updates = checkpoint_every;
    std::vector<loops::progress> seen;
    const run_options watching{
        .callbacks = {.on_update_end = [&](loops::progress now) { return note(seen, now); }}};
    const auto algorithm = toy_algorithm(config, network_kind::q_values);
    train(algorithm, {.root = on.folder.path}, watching);
    REQUIRE(std::ssize(seen) == config.updates());
    for (std::int64_t i = 0; i < config.updates(); ++i) {
      const auto& now = seen[static_cast<std::size_t>(i)];
      CAPTURE(i);
      CHECK(now.updates == i + 1);
      CHECK(now.episodes == config.warm_up() + i + 1);
    }
  }
}

TEST_CASE(
    "off-policy run: a stop ends the evaluation at the end, which is played when it goes on") {
  stage on;
  for (const std::int64_t checkpoint_every : {0, 20}) {
    CAPTURE(checkpoint_every);
    auto config = short_run(training_mode::sync, "Pendulum-v1");
    config.evaluation.every_steps = 0;
    config.checkpoint.every_updates = checkpoint_every;
    const auto algorithm = toy_algorithm(config, network_kind::squashed_gaussian);
    const auto name = "run" + std::to_string(checkpoint_every);
    const auto whole = on.run(algorithm, name).summary.value();
    int after_the_last = 0;
    auto options = stop_after(static_cast<int>(config.updates()));
    const auto trained = std::exchange(options.stop_asked, nullptr);
    // After the last update, with checkpoints before the evaluation, and at an early step of it.
    options.stop_asked = [&] { return trained() && ++after_the_last > 10; };
    const auto half = train(algorithm, {.root = on.folder.path / name}, options);
    CHECK_FALSE(half.summary);
    CHECK(half.steps == 600);
    CHECK(after_the_last < 20);
    if (checkpoint_every == 0) continue;
    auto from = newest_checkpoint(half.run_directory, algorithm.settings, *on.metrics);
    const auto end =
        train(algorithm, {.directory = half.run_directory}, {}, std::move(from)).summary.value();
    CHECK(end.weights_sha256 == whole.weights_sha256);
    CHECK(end.eval_mean == whole.eval_mean);
  }
}

TEST_CASE("off-policy run: a network that does not fit the environment is refused") {
  stage on;
  const auto config = short_run(training_mode::sync, "CartPole-v1");
  CHECK_THROWS_WITH(on.run(toy_algorithm(config, network_kind::squashed), "run"),
                    Catch::Contains("CartPole-v1") && Catch::Contains("Discrete(2)"));
}

TEST_CASE("off-policy run: a replay that would not fit into its bytes is refused") {
  stage on;
  auto config = short_run(training_mode::sync, "CartPole-v1");
  config.replay.max_bytes = 1000;
  CHECK_THROWS_WITH(on.run(toy_algorithm(config, network_kind::q_values), "run"),
                    Catch::Contains("max_bytes"));
}

}  // namespace
}  // namespace troupe
