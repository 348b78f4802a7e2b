// IQL, VDN and QMIX as whole runs from their configurations.

#include "actors/torch/torch.hpp"

#include <set>

#include "actors/checkpoint/state_codec.hpp"
#include "actors/networks/model_file.hpp"
#include "actors/recorder/run_directory.hpp"
#include "algorithms/multi_agent/off_policy/iql/iql.hpp"
#include "algorithms/multi_agent/off_policy/iql/learner.hpp"
#include "algorithms/multi_agent/off_policy/qmix/learner.hpp"
#include "algorithms/multi_agent/off_policy/qmix/qmix.hpp"
#include "algorithms/multi_agent/off_policy/vdn/vdn.hpp"
#include "algorithms/run/initial_model.hpp"
#include "runtime/base/log.hpp"
#include "tests/algorithms/multi_agent/off_policy/departing.hpp"
#include "tests/algorithms/multi_agent/test_worlds.hpp"
#include "tests/algorithms/progress_column.hpp"
#include "tests/algorithms/stage.hpp"
#include "tests/message_of.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using namespace testing;

template <class Config>
Config short_run(const std::string& env = "Meeting-v0", training_mode mode = training_mode::sync) {
  register_test_worlds();
  register_departing();
  Config config;
  config.env = {.id = env, .n_envs = 4};
  config.total_steps = 320;
  config.mode = mode;
  config.collection = {.learning_starts = 100,
                       .train_freq = 4,
                       .gradient_steps = 2,
                       .workers = 3,
                       .max_staleness = 4};
  config.replay.capacity = 300;
  config.trainer.batch_size = 16;
  config.trainer.target_update_interval = 32;
  config.trainer.tau = 0.5;
  config.trainer.lr = 0.01;  // so that the networks soon choose differently
  config.policy.hidden = {8};
  config.evaluation = {.every_steps = 200, .episodes = 2, .final_episodes = 4};
  config.checkpoint.every_updates = 1;
  config.log.episodes = 2;
  config.deterministic = true;
  return config;
}

std::string refusal_of(const auto& config) {
  return testing::message_of([&] { algorithm_with(config).check(); });
}

saved_model model_of(const run_summary& run) {
  return load_model(run_directory::open(run.run_directory).last_model());
}

/// The learner's state after the update at `steps` environment steps, of a run that kept them.
joint_q_learner_state learner_of(const run_summary& run, std::int64_t steps) {
  const state_reader trainer(file_of(checkpoints_of(run).load(steps), "trainer.cbor"));
  return state_of<joint_q_learner_state>(trainer.get<std::string>("learner"));
}

/// Compares the targets of a run with those that follow from its online networks. An update comes
/// after four steps of each of four environments, and its targets move before its gradient steps.
template <class Config>
void follow_targets(stage& on, std::int64_t interval) {
  constexpr std::int64_t steps_of_update = 16;
  auto config = short_run<Config>();
  CAPTURE(config.algo, interval);
  config.trainer.tau = 0.25;
  config.trainer.target_update_interval = interval;  // environment steps
  config.evaluation.every_steps = 0;
  config.checkpoint = {.every_updates = 1, .keep = 1000};
  const auto run = on.run(algorithm_with(config), config.algo + std::to_string(interval));
  const auto summary = run.summary.value();
  for (std::int64_t steps = 128; steps < 320; steps += steps_of_update) {
    const auto before = learner_of(summary, steps);
    const auto after = learner_of(summary, steps + steps_of_update);
    auto target = before.target;
    for (auto step = steps + 4; step <= steps + steps_of_update; step += 4) {
      if (step % interval != 0) continue;
      for (std::size_t i = 0; i < target.size(); ++i) {
        target[i] = 0.75f * target[i] + 0.25f * before.parameters[i];
      }
    }
    CAPTURE(steps);
    CHECK(after.parameters != before.parameters);
    REQUIRE(after.target.size() == target.size());
    int elsewhere = 0;  // a check of each would take seconds
    for (std::size_t i = 0; i < target.size(); ++i) {
      elsewhere += !(after.target[i] == Approx(target[i]).margin(1e-6));
    }
    CHECK(elsewhere == 0);
  }
}

}  // namespace

TEST_CASE("joint q: the targets move once an interval, several times a collection too") {
  stage on;
  for (const std::int64_t interval : {4, 8, 32}) {
    follow_targets<iql_config>(on, interval);
    follow_targets<vdn_config>(on, interval);
    follow_targets<qmix_config>(on, interval);
  }
}

TEMPLATE_TEST_CASE("joint q: agents that act in turn or leave choose nothing forbidden", "",
                   iql_config, vdn_config, qmix_config) {
  stage on;
  for (const std::string env : {"Turns-v0", "Departing-v0"}) {
    for (const auto mode : {training_mode::sync, training_mode::async}) {
      auto config = short_run<TestType>(env, mode);
      if constexpr (std::is_same_v<TestType, qmix_config>) {
        if (env == "Turns-v0") config.mixer.input = mixer_input::observations;
      }
      const auto name = env + (mode == training_mode::sync ? "sync" : "async");
      CAPTURE(config.algo, name);
      turns::forbidden = 0;
      REQUIRE(on.run(algorithm_with(config), name).summary);
      CHECK(turns::forbidden == 0);
    }
  }
}

TEMPLATE_TEST_CASE("joint q: a prioritised replay, double learning and each backend", "",
                   iql_config, vdn_config, qmix_config) {
  stage on;
  std::set<std::string> weights;
  for (const bool prioritised : {false, true}) {
    for (const bool double_q : {false, true}) {
      for (const auto backend : {gradient_backend::fused, gradient_backend::libtorch}) {
        auto config = short_run<TestType>();
        config.total_steps = 480;
        config.checkpoint.every_updates = 0;
        if (prioritised) config.replay.prioritised = priority_options{};
        config.trainer.double_q = double_q;
        config.policy.backend = backend;
        const auto name = std::to_string(prioritised) + std::to_string(double_q) +
                          std::to_string(static_cast<int>(backend));
        CAPTURE(config.algo, name);
        weights.insert(on.run(algorithm_with(config), name).summary.value().weights_sha256);
      }
    }
  }
  CHECK(weights.size() == 8);
}

TEMPLATE_TEST_CASE("joint q: environments in processes give the same as in this one", "",
                   iql_config, vdn_config, qmix_config) {
  stage on;
  auto config = short_run<TestType>("simple_spread_v3");
  config.deterministic = false;
  config.evaluation.every_steps = 0;
  config.checkpoint.every_updates = 0;
  const auto here = on.run(algorithm_with(config), "here").summary.value();
  config.env.placement = "process";
  const auto there = on.run(algorithm_with(config), "there").summary.value();
  CHECK(there.weights_sha256 == here.weights_sha256);
  CHECK(there.eval_mean == here.eval_mean);
  CHECK(column_of(there, "train/loss") == column_of(here, "train/loss"));
}

TEMPLATE_TEST_CASE("joint q: returns of agents are columns of progress.csv", "", iql_config,
                   vdn_config, qmix_config) {
  stage on;
  const auto run = on.run(algorithm_with(short_run<TestType>()), "run").summary.value();
  const auto all = column_of(run, "rollout/ep_rew_mean");
  const auto one = column_of(run, "rollout/walker_0/ep_rew_mean");
  const auto other = column_of(run, "rollout/walker_1/ep_rew_mean");
  REQUIRE(!one.empty());
  REQUIRE(one.size() == other.size());
  // Evaluations have rows without returns of episodes.
  REQUIRE(all.size() >= one.size());
  for (std::size_t i = 0; i < one.size(); ++i) CHECK(one[i] == other[i]);
  CHECK(column_of(run, "rollout/exploration_rate").size() == one.size());
  for (const char* name : {"train/loss", "train/q_mean", "train/grad_norm"}) {
    CHECK(column_of(run, name).size() == one.size());
  }
}

TEMPLATE_TEST_CASE("joint q: model files have all policies, and the mixer beside them", "",
                   iql_config, vdn_config, qmix_config) {
  stage on;
  auto config = short_run<TestType>();
  config.agents.share = false;
  const auto run = on.run(algorithm_with(config), "run").summary.value();
  const auto model = model_of(run);
  CHECK(model.options.kind == network_kind::q_values);
  REQUIRE(model.shape.policies.size() == 2);
  CHECK(model.shape.policies[1].name == "walker_1");
  CHECK(model.parameters.numel() == 2 * (2 * 8 + 8 + 8 * 3 + 3));
  CHECK(model.beside.size() == (std::is_same_v<TestType, qmix_config> ? 14 : 0));
  const evaluator_options playing{.environments = environments_of(config.env, 2),
                                  .shape = model.shape,
                                  .network = model.options};
  const auto seen = evaluator(playing).evaluate(weights{1, model.parameters, {}}, 4, 1);
  CHECK(seen.agent_means.size() == 2);

  // Another run begins with it, and with its mixer.
  config.total_steps = 120;
  config.trainer.lr = 1e-30;
  auto what = algorithm_with(config);
  what.settings.init = read_initial_model(run.run_directory);
  require_initial_model(what);
  const auto next = model_of(on.run(what, "next").summary.value());
  const auto best = what.settings.init->model;
  CHECK(next.parameters.equal(best.parameters));
  REQUIRE(next.beside.size() == best.beside.size());
  for (std::size_t i = 0; i < next.beside.size(); ++i) {
    CHECK(next.beside[i].second.equal(best.beside[i].second));
  }
}

TEST_CASE("iql: frozen and scripted policies learn nothing and act") {
  stage on;
  auto config = short_run<iql_config>();
  config.agents.share = false;
  config.checkpoint.every_updates = 0;
  const auto half_of = [&](std::int64_t steps, const std::string& name) {
    auto some = config;
    some.total_steps = steps;
    return model_of(on.run(algorithm_with(some), name).summary.value()).parameters;
  };
  config.agents.frozen = {"walker_0"};
  const auto one = half_of(128, "one"), more = half_of(320, "more");
  const auto half = one.size(0) / 2;
  CHECK(one.narrow(0, 0, half).equal(more.narrow(0, 0, half)));
  CHECK_FALSE(one.narrow(0, half, half).equal(more.narrow(0, half, half)));

  config.agents.frozen = {};
  config.agents.scripted = {R"({"walker_0": "random"})"};
  const auto run = on.run(algorithm_with(config), "scripted").summary.value();
  CHECK(model_of(run).shape.policies[0].script == "random");
}

TEST_CASE("iql: rewards are shared by their weight") {
  stage on;
  std::set<std::string> weights;
  for (const double shared : {0.0, 0.5, 1.0}) {
    for (const auto team : {reward_team::all, reward_team::policy}) {
      auto config = short_run<iql_config>("Turns-v0");
      config.agents.share = false;
      config.agents.shared_reward = shared;
      config.agents.team = team;
      config.checkpoint.every_updates = 0;
      const auto name = std::to_string(shared) + std::to_string(static_cast<int>(team));
      weights.insert(on.run(algorithm_with(config), name).summary.value().weights_sha256);
    }
  }
  CHECK(weights.size() == 3);  // the team of a policy that plays one agent is that agent
}

TEMPLATE_TEST_CASE("joint q: killed collectors cost no more than their steps", "", iql_config,
                   vdn_config, qmix_config) {
  stage on;
  log::set_level("off");
  for (const std::uint64_t seed : {1, 2, 3}) {
    auto config = short_run<TestType>("Departing-v0");
    config.seed = seed;
    config.faults = "crash=0.01";
    config.checkpoint.every_updates = 0;
    const auto made = on.run(algorithm_with(config), std::to_string(seed)).summary.value();
    CHECK(made.steps == config.total_steps);
  }
  log::set_level("info");
}

TEMPLATE_TEST_CASE("joint q: what does not fit is refused at the start", "", iql_config, vdn_config,
                   qmix_config) {
  auto config = short_run<TestType>("CartPole-v1");
  const auto algo = config.algo;
  CHECK(refusal_of(config) == algo +
                                  ": expected an environment with several agents, got CartPole-v1, "
                                  "which has one; dqn learns on it");
  config.env = {.id = "simple_spread_v3", .options = {R"({"continuous_actions": true})"}};
  const auto continuous = refusal_of(config);
  CHECK(continuous.starts_with(
      algo +
      ": expected agents with actions of Discrete, got simple_spread_v3, whose agent "
      "\"agent_0\" has Box"));
  config.env = {.id = "Meeting-v0"};
  config.agents.policies = {R"({"walker_0": "a"})"};
  CHECK(refusal_of(config).starts_with(
      "agents.policies: expected a pattern that covers \"walker_1\", got none"));
  config = short_run<TestType>();
  config.replay.max_bytes = 1000;
  CHECK_THAT(refusal_of(config), Catch::Contains("max_bytes"));
  config = short_run<TestType>("Turns-v0");
  if constexpr (std::is_same_v<TestType, qmix_config>) {
    CHECK(refusal_of(config) ==
          "qmix: expected an environment with a global state for the mixer, got Turns-v0, which "
          "has none; with mixer.input=observations it sees what all agents see");
    config.mixer.input = mixer_input::observations;
  }
  CHECK(refusal_of(config) == "");
}

TEST_CASE("joint q: configurations of what can't be are refused") {
  const auto refusal = [](const auto& config) {
    return testing::message_of<std::invalid_argument>([&] { checked_options(config, "it"); });
  };
  iql_config iql;
  iql.replay.n_step = 3;
  CHECK_THAT(refusal(iql),
             Catch::Contains("/replay/n_step: expected 1 with several agents, got 3"));
  iql = {};
  iql.env.normalize_obs = true;
  CHECK_THAT(refusal(iql), Catch::Contains("/env/normalize_obs: expected false"));
  vdn_config vdn;
  vdn.agents.frozen = {"b"};
  CHECK_THAT(refusal(vdn), Catch::Contains("/agents/frozen: expected [] with vdn"));
  qmix_config qmix;
  qmix.agents.scripted = {R"({"b": "random"})"};
  CHECK_THAT(refusal(qmix), Catch::Contains("/agents/scripted: expected {} with qmix"));
}

TEMPLATE_TEST_CASE("joint q: the value of players in turn does not hang on the time limit", "",
                   iql_config, vdn_config, qmix_config) {
  stage on;
  for (const int limit : {5, 50}) {
    // A transition of IQL reaches to the player's next turn and has the cost of that player alone.
    constexpr bool independent = std::is_same_v<TestType, iql_config>;
    auto config = short_run<TestType>(independent ? "EndlessOwn-v0" : "Endless-v0");
    CAPTURE(config.algo, limit);
    config.env.max_episode_steps = limit;
    config.total_steps = 8000;
    config.collection = {.learning_starts = 100, .train_freq = 4, .gradient_steps = 16};
    config.exploration = {.initial = 1, .final = 1};
    config.replay.capacity = 2000;
    config.trainer.gamma = 0.9;
    config.trainer.target_update_interval = 4;
    config.trainer.tau = 0.05;
    config.evaluation = {.every_steps = 0, .final_episodes = 1};
    config.checkpoint.every_updates = 0;
    config.log.episodes = 20;
    if constexpr (std::is_same_v<TestType, qmix_config>) config.mixer.input = mixer_input::none;
    const auto run = on.run(algorithm_with(config), std::to_string(limit)).summary.value();
    // -1 a step for ever.
    CHECK(column_of(run, "train/q_mean").back() == Approx(-10).margin(1));
  }
}

TEMPLATE_TEST_CASE("joint q: two agents learn to meet", "", iql_config, vdn_config, qmix_config) {
  stage on;
  auto config = short_run<TestType>();
  config.env.n_envs = 8;
  config.total_steps = 12'000;
  config.collection = {.learning_starts = 500, .train_freq = 8, .gradient_steps = 16};
  config.replay.capacity = 12'000;
  config.trainer.batch_size = 64;
  config.trainer.lr = 2e-3;
  config.trainer.target_update_interval = 64;
  config.trainer.tau = 0.05;
  config.policy.hidden = {32};
  config.exploration = {.final = 0.05, .fraction = 0.5};
  config.checkpoint.every_updates = 0;
  config.evaluation = {.every_steps = 0, .final_episodes = 100};
  std::vector<double> returns;
  for (const std::uint64_t seed : {1, 2, 3}) {
    config.seed = seed;
    returns.push_back(
        on.run(algorithm_with(config), std::to_string(seed)).summary.value().eval_mean);
  }
  UNSCOPED_INFO(config.algo << ": returns " << returns[0] << ", " << returns[1] << ", "
                            << returns[2]);
  std::ranges::sort(returns);
  CHECK(returns[1] > 6);  // they meet within two steps, of eight
}

}  // namespace troupe
