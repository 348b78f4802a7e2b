#include "actors/torch/torch.hpp"

#include "actors/networks/model_file.hpp"
#include "actors/recorder/run_directory.hpp"
#include "algorithms/multi_agent/on_policy/coma/coma.hpp"
#include "tests/algorithms/multi_agent/leaving.hpp"
#include "tests/algorithms/multi_agent/stale_rows.hpp"
#include "tests/algorithms/multi_agent/test_worlds.hpp"
#include "tests/algorithms/progress_column.hpp"
#include "tests/algorithms/stage.hpp"
#include "tests/message_of.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using testing::column;
using stage = testing::quiet_stage;

coma_config short_run(training_mode mode, const std::string& env = "Meeting-v0") {
  testing::register_test_worlds();
  testing::register_leaving();
  coma_config config;
  config.env = {.id = env, .n_envs = 4};
  config.total_steps = 6 * 4 * 16 * 2;
  config.mode = mode;
  config.rollout = {.n_steps = 16, .batch = 2, .workers = 3};
  config.trainer.batch_size = 32;
  config.trainer.target_interval = 5;
  config.policy.hidden = {8};
  config.policy.critic_hidden = std::vector<int>{12};
  config.evaluation = {.every_steps = 300, .episodes = 2, .final_episodes = 4};
  config.checkpoint.every_updates = 2;
  config.deterministic = true;
  return config;
}

std::string message_of(const coma_config& config) {
  return testing::message_of([&] { algorithm_with(config).check(); });
}

}  // namespace

TEST_CASE("coma: a rollout of older weights is trained on as stale") {
  testing::require_stale_rows_weighted(short_run);
}

TEST_CASE("coma: roles in processes learn what they learn in one process") {
  stage on;
  auto config = short_run(training_mode::sync);
  config.deterministic = false;
  config.rollout.batch = 1;
  config.total_steps = 4 * 4 * 16;
  config.agents.share = false;
  const auto here = on.run(config, "here").summary.value();
  config.placement.policy = "process";
  config.placement.trainer = "process";
  const auto there = on.run(config, "there").summary.value();
  CHECK(there.weights_sha256 == here.weights_sha256);
  CHECK(there.eval_mean == here.eval_mean);
}

TEST_CASE("coma: agents that act in turn and agents that leave are trained") {
  stage on;
  for (const char* env : {"Turns-v0", "Leaving-v0"}) {
    CAPTURE(env);
    auto config = short_run(training_mode::sync, env);
    config.critic = central_input::observations;
    testing::turns::forbidden = 0;
    const auto made = on.run(config, env);
    CHECK(testing::turns::forbidden == 0);
    const auto csv = run_directory::open(made.run_directory).progress_csv();
    for (const double dropped : column(csv, "train/dropped_rows")) CHECK(dropped > 0);
    CHECK(column(csv, "train/n_updates").back() == 6);
  }
}

TEST_CASE("coma: a scripted and a frozen policy act beside one that learns") {
  stage on;
  const auto first = [&](std::int64_t updates) {
    auto config = short_run(training_mode::sync, "Leaving-v0");
    config.agents.share = false;
    config.agents.scripted = {R"({"agent_0": "random"})"};
    config.agents.frozen = {"agent_1"};
    config.total_steps = updates * 4 * 16 * 2;
    config.checkpoint.every_updates = 0;
    const auto made = on.run(config, "frozen" + std::to_string(updates));
    return load_model(run_directory::open(made.run_directory).last_model()).parameters;
  };
  const auto one = first(1), more = first(4);
  const auto third = one.size(0) / 3;
  CHECK(one.narrow(0, 0, 2 * third).equal(more.narrow(0, 0, 2 * third)));
  CHECK_FALSE(one.narrow(0, 2 * third, third).equal(more.narrow(0, 2 * third, third)));
}

TEST_CASE("coma: the model has actors, and values without hidden layers that are not trained") {
  stage on;
  const auto made = on.run(short_run(training_mode::sync), "model");
  const auto model = load_model(run_directory::open(made.run_directory).last_model());
  CHECK(model.options.critic_hidden == std::vector<int>{});
  CHECK(model.options.hidden == std::vector<int>{8});
  CHECK(model.shape.policies.at(0).critic_only == 2);
  const auto csv = run_directory::open(made.run_directory).progress_csv();
  for (const char* name :
       {"train/critic_loss", "train/policy_gradient_loss", "train/entropy_loss", "train/loss",
        "train/explained_variance", "train/grad_norm", "train/importance_weight",
        "rollout/walker_0/ep_rew_mean", "rollout/walker_1/ep_rew_mean"}) {
    CAPTURE(name);
    CHECK(column(csv, name).size() >= 5);
  }
  CHECK_THROWS(column(csv, "train/value_loss"));
  CHECK_THROWS(column(csv, "train/clip_fraction"));
}

TEST_CASE("coma: killed policies and environments cost no update") {
  stage on;
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    auto config = short_run(training_mode::sync);
    config.agents.share = false;
    config.seed = seed;
    config.faults = "crash=0.01";
    config.checkpoint.every_updates = 0;
    const auto made = on.run(config, "faults" + std::to_string(seed)).summary.value();
    CHECK(made.steps == config.total_steps);
  }
}

TEST_CASE("coma: what does not fit is refused at the start") {
  auto config = short_run(training_mode::sync, "CartPole-v1");
  CHECK(message_of(config).starts_with("coma: expected an environment with several agents"));
  config.env.id = "Turns-v0";
  CHECK(message_of(config).starts_with(
      "Turns-v0: expected an environment with a global state for the critic"));
  config = short_run(training_mode::sync, "simple_spread_v3");
  config.env.options = {R"({"continuous_actions": true})"};
  CHECK(message_of(config).starts_with("coma: expected agents with one Discrete action, got Box("));
  CHECK(message_of(config).ends_with(" for \"agent_0\" of simple_spread_v3"));
  config = short_run(training_mode::sync);
  config.policy.hidden_activation = activation::silu;
  config.policy.backend = gradient_backend::fused;
  CHECK(message_of(config).starts_with("policy.backend fused: "));
}

TEST_CASE("coma: two agents learn the best of two good joint actions") {
  stage on;
  for (const std::uint64_t seed : {1, 2, 3}) {
    CAPTURE(seed);
    auto config = short_run(training_mode::sync, "matrix_game-v0");
    config.env.options = {R"({"payoffs": [[2, 0, 0], [0, 0, 0], [0, 0, 5]]})"};
    config.env.n_envs = 32;
    config.seed = seed;
    config.total_steps = 32 * 4 * 200;
    config.rollout = {.n_steps = 4};
    config.trainer.lr = 5e-3;
    config.trainer.critic_lr = 5e-3;
    config.agents.share = false;
    config.checkpoint.every_updates = 0;
    config.evaluation = {.every_steps = 0, .final_episodes = 10};
    CHECK(on.run(config, "game" + std::to_string(seed)).summary->eval_mean == 5);
  }
}

TEST_CASE("coma: two agents learn to meet") {
  stage on;
  auto config = short_run(training_mode::sync);
  config.env.n_envs = 16;
  config.total_steps = 60'000;
  config.rollout = {.n_steps = 16};
  config.trainer.lr = 5e-3;
  config.trainer.critic_lr = 5e-3;
  config.trainer.batch_size = 64;
  config.trainer.target_interval = 50;
  config.policy.hidden = {32};
  config.policy.critic_hidden.reset();
  config.checkpoint.every_updates = 0;
  config.evaluation = {.every_steps = 0, .final_episodes = 100};
  for (config.seed = 1; config.seed <= 3; ++config.seed) {
    CAPTURE(config.seed);
    const auto made = on.run(config, "learn" + std::to_string(config.seed)).summary.value();
    CHECK(made.eval_mean > 6);  // they meet within two steps, of eight
  }
}

}  // namespace troupe
