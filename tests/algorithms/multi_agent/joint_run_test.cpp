#include "actors/torch/torch.hpp"

#include <nlohmann/json.hpp>

#include "actors/networks/model_file.hpp"
#include "actors/recorder/run_directory.hpp"
#include "actors/recorder/score_text.hpp"
#include "actors/worlds/scripted_policies.hpp"
#include "algorithms/multi_agent/on_policy/coma/coma.hpp"
#include "algorithms/multi_agent/on_policy/ippo/ippo.hpp"
#include "algorithms/multi_agent/on_policy/mappo/mappo.hpp"
#include "runtime/metrics/registry.hpp"
#include "tests/algorithms/multi_agent/leaving.hpp"
#include "tests/algorithms/multi_agent/stale_rows.hpp"
#include "tests/algorithms/multi_agent/test_worlds.hpp"
#include "tests/algorithms/progress_column.hpp"
#include "tests/algorithms/stage.hpp"
#include "tests/message_of.hpp"
#include "tests/runtime/metrics/text.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using testing::column;
using stage = testing::quiet_stage;

template <class Config = mappo_config>
Config short_run(training_mode mode, const std::string& env = "Meeting-v0") {
  testing::register_test_worlds();
  Config config;
  config.env = {.id = env, .n_envs = 4};
  config.total_steps = 6 * 4 * 16 * 2;
  config.mode = mode;
  config.rollout = {.n_steps = 16, .batch = 2, .workers = 3};
  config.trainer.batch_size = 32;
  config.trainer.n_epochs = 2;
  config.policy.hidden = {8};
  config.evaluation = {.every_steps = 300, .episodes = 2, .final_episodes = 4};
  config.checkpoint.every_updates = 2;
  config.deterministic = true;
  return config;
}

std::string message_of(const auto& config) {
  return testing::message_of([&] { algorithm_with(config).check(); });
}

/// The weights that a run ends with.
at::Tensor last_weights(stage& on, const auto& config, const std::string& name) {
  const run_result made = on.run(config, name);
  return load_model(run_directory::open(made.run_directory).last_model()).parameters;
}

}  // namespace

TEMPLATE_TEST_CASE("on_policy: groups of environments give the weights of one group", "",
                   ippo_config, coma_config) {
  stage on;
  testing::register_leaving();
  for (const std::string env : {"Meeting-v0", "Leaving-v0"}) {
    CAPTURE(env);
    auto config = short_run<TestType>(training_mode::sync, env);
    config.rollout.batch = 1;  // rollouts side by side would be acted for in another order
    if constexpr (std::is_same_v<TestType, coma_config>) {
      config.critic = central_input::observations;
    }
    const auto whole = last_weights(on, config, env + "-whole");
    config.rollout.groups = 2;
    CHECK(at::equal(last_weights(on, config, env + "-groups"), whole));
    config.seed = 2;
    CHECK_FALSE(at::equal(last_weights(on, config, env + "-other"), whole));
  }
}

TEST_CASE("mappo: two ranks of the trainer have the weights of one", "[data_parallel]") {
  stage on;
  for (const bool share : {true, false}) {
    CAPTURE(share);
    auto config = short_run(training_mode::sync);
    config.deterministic = false;
    config.rollout.batch = 1;
    config.agents.share = share;
    const auto alone = last_weights(on, config, share ? "alone" : "alone-apart");
    config.trainer.replicas = 2;
    const auto ranks = last_weights(on, config, share ? "ranks" : "ranks-apart");
    CHECK(((ranks - alone).norm() / alone.norm()).item<double>() <= 1e-6);
  }
}

TEST_CASE("ippo: agents that act in turn are trained by steps of their own, none forbidden") {
  stage on;
  for (const auto mode : {training_mode::sync, training_mode::async}) {
    auto config = short_run<ippo_config>(mode, "Turns-v0");
    testing::turns::forbidden = 0;
    REQUIRE(on.run(config, "turns").summary);
    CHECK(testing::turns::forbidden == 0);
  }
}

TEST_CASE("ippo: a rollout of older weights is trained on as stale") {
  testing::require_stale_rows_weighted(short_run<ippo_config>);
}

TEST_CASE("mappo: a rollout of older weights is trained on as stale") {
  testing::require_stale_rows_weighted(short_run<mappo_config>);
}

TEST_CASE("mappo: a frozen policy keeps its weights, the others learn") {
  stage on;
  auto config = short_run(training_mode::sync);
  config.agents.share = false;
  const auto first = [&](std::int64_t updates) {
    auto some = config;
    some.total_steps = updates * 4 * 16 * 2;
    some.checkpoint.every_updates = 0;
    some.agents.frozen = {"walker_0"};
    const auto made = on.run(some, "frozen" + std::to_string(updates));
    return load_model(run_directory::open(made.run_directory).last_model()).parameters;
  };
  const auto one = first(1), more = first(4);
  const auto half = one.size(0) / 2;
  CHECK(one.narrow(0, 0, half).equal(more.narrow(0, 0, half)));
  CHECK_FALSE(one.narrow(0, half, half).equal(more.narrow(0, half, half)));
}

TEST_CASE("ippo: a scripted policy plays by its rules, in rollouts and in evaluations") {
  struct still final : scripted_policy {
    void act(const agent_sight& seen, action_random&, std::span<std::int64_t> choices,
             std::span<float>) override {
      CHECK(seen.obs.size() == 2);
      choices[0] = 1;
    }
  };
  register_scripted_policy(
      "meeting.still", [](const scripted_policy_request&) { return std::make_unique<still>(); });
  stage on;
  auto config = short_run<ippo_config>(training_mode::sync);
  config.agents.scripted = {R"({"walker": "meeting.still"})"};
  testing::meeting::moves = 0;
  const auto made = on.run(config, "still");
  CHECK(made.summary.value().steps == config.total_steps);
  CHECK(testing::meeting::moves == 0);
  const auto model = load_model(run_directory::open(made.run_directory).last_model());
  CHECK(model.shape.policies[0].script == "meeting.still");
  config.agents.scripted = {R"({"walker": "meeting.stil"})"};
  CHECK(message_of(config).starts_with(
      "agents.scripted: agent \"walker_0\": scripted policy \"meeting.stil\": expected one of "));
  config.agents.scripted = {R"({"walker": "simple_tag.runner"})"};
  CHECK(message_of(config).starts_with(
      "agents.scripted: agent \"walker_0\": scripted policy \"simple_tag.runner\": expected "
      "observations of 14 numbers, got 2"));
}

TEST_CASE("mappo: agents have columns, a place in the summary and on the status page") {
  stage on;
  auto config = short_run(training_mode::sync, "matching_pennies-v0");
  config.agents.score = "agent_1";
  config.evaluation.every_steps = 0;
  config.agents.share = false;
  const auto made = on.run(config, "columns");
  const auto summary = made.summary.value();
  REQUIRE(summary.eval_agents.size() == 2);
  CHECK(summary.eval_agents[1].first == "agent_1");
  CHECK(summary.eval_mean == Approx(summary.eval_agents[1].second));
  const auto csv = run_directory::open(made.run_directory).progress_csv();
  const auto scored = column(csv, "rollout/agent_1/ep_rew_mean");
  CHECK(scored == column(csv, "rollout/ep_rew_mean"));
  CHECK(column(csv, "eval/agent_1/mean_reward") == column(csv, "eval/mean_reward"));
  CHECK(column(csv, "rollout/agent_0/ep_rew_mean").back() == -scored.back());
  double sum = 0;
  for (const auto* name : {"0-0", "0-1", "1-0", "1-1"}) {
    sum += column(csv, std::string("eval/joint_actions/") + name).back();
  }
  CHECK(sum == Approx(1));
  const auto boards = nlohmann::json::parse(on.metrics->boards());
  const auto& agents = boards.at("agents").at("table").at("rows");
  REQUIRE(agents.size() == 2);
  CHECK(agents[1][0] == "agent_1");
  CHECK(agents[1][3] == score_text(summary.eval_agents[1].second));
  CHECK(boards.at("joint_actions").at("table").at("rows").size() == 2);
  CHECK(on.metrics->text().find("troupe_agent_episode_return{agent=\"agent_0\"}") !=
        std::string::npos);
}

TEST_CASE("ippo: evaluations have the environment's rewards, not difference rewards") {
  struct second final : scripted_policy {
    void act(const agent_sight&, action_random&, std::span<std::int64_t> choices,
             std::span<float>) override {
      choices[0] = 1;
    }
  };
  register_scripted_policy(
      "second", [](const scripted_policy_request&) { return std::make_unique<second>(); });
  stage on;
  auto config = short_run<ippo_config>(training_mode::sync, "climbing-v0");
  config.agents.scripted = {R"({"agent": "second"})"};
  config.env.difference_rewards = true;
  const auto made = on.run(config, "difference");
  CHECK(made.summary.value().eval_mean == 7);
  const auto csv = run_directory::open(made.run_directory).progress_csv();
  CHECK(column(csv, "rollout/ep_rew_mean").back() == 37);
}

TEST_CASE("mappo: the actor does not see what is for the critic alone") {
  stage on;
  const auto made = on.run(short_run(training_mode::sync), "state");
  const auto model = load_model(run_directory::open(made.run_directory).last_model());
  REQUIRE(model.shape.policies.size() == 1);
  CHECK(model.shape.policies[0].critic_only == 2);
  CHECK(model.shape.policies[0].obs_size == 2 + 2 + 2);  // own, number, state
  REQUIRE(model.shape.agents.size() == 2);
  CHECK(model.shape.agents[1].name == "walker_1");
}

TEST_CASE("mappo: returns of agents are columns of progress.csv") {
  stage on;
  const auto made = on.run(short_run(training_mode::sync), "columns");
  const auto csv = run_directory::open(made.run_directory).progress_csv();
  const auto all = column(csv, "rollout/ep_rew_mean");
  const auto one = column(csv, "rollout/walker_0/ep_rew_mean");
  const auto other = column(csv, "rollout/walker_1/ep_rew_mean");
  REQUIRE(all.size() == one.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    CHECK(all[i] == Approx((one[i] + other[i]) / 2));
  }
}

TEST_CASE("mappo: killed policies cost no episode") {
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

TEST_CASE("ippo and mappo: what does not fit is refused at the start") {
  testing::register_test_worlds();
  auto config = short_run(training_mode::sync, "CartPole-v1");
  CHECK(message_of(config) ==
        "mappo: expected an environment with several agents, got CartPole-v1, which has one; ppo "
        "learns on it");
  config.env.id = "Turns-v0";
  CHECK(message_of(config).starts_with(
      "Turns-v0: expected an environment with a global state for the critic"));
  config = short_run(training_mode::sync);
  config.agents.policies = {R"({"walker_0": "a"})"};
  CHECK(message_of(config).starts_with(
      "agents.policies: expected a pattern that covers \"walker_1\", got none"));
}

TEST_CASE("mappo: two agents learn to meet") {
  stage on;
  auto config = short_run(training_mode::sync);
  config.env.n_envs = 16;
  config.total_steps = 40'000;
  config.rollout = {.n_steps = 16};
  config.trainer.batch_size = 128;
  config.trainer.n_epochs = 4;
  config.policy.hidden = {32};
  config.checkpoint.every_updates = 0;
  config.evaluation = {.every_steps = 0, .final_episodes = 100};
  const auto made = on.run(config, "learn").summary.value();
  CHECK(made.eval_mean > 6);  // they meet within two steps, of eight
}

}  // namespace troupe
