// MADDPG and MATD3 as whole runs from their configurations, and collectors with continuous actions
// of several agents.

#include "actors/torch/torch.hpp"

#include <set>

#include "actors/networks/model_file.hpp"
#include "actors/networks/named_tensors.hpp"
#include "actors/recorder/run_directory.hpp"
#include "algorithms/multi_agent/off_policy/maddpg/maddpg.hpp"
#include "algorithms/off_policy/collector.hpp"
#include "algorithms/run/initial_model.hpp"
#include "runtime/base/log.hpp"
#include "tests/algorithms/multi_agent/off_policy/gathering.hpp"
#include "tests/algorithms/multi_agent/test_worlds.hpp"
#include "tests/algorithms/progress_column.hpp"
#include "tests/algorithms/stage.hpp"
#include "tests/message_of.hpp"
#include "tests/runtime/support.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using namespace testing;

template <class Config>
Config short_run(const std::string& env = "Gathering-v0",
                 training_mode mode = training_mode::sync) {
  register_test_worlds();
  register_gathering();
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
  config.trainer.lr = 0.01;
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

}  // namespace

TEMPLATE_TEST_CASE("maddpg: a prioritised replay and each backend", "", maddpg_config,
                   matd3_config) {
  stage on;
  std::set<std::string> weights;
  for (const bool prioritised : {false, true}) {
    for (const auto backend : {gradient_backend::fused, gradient_backend::libtorch}) {
      auto config = short_run<TestType>();
      config.checkpoint.every_updates = 0;
      if (prioritised) config.replay.prioritised = priority_options{};
      config.policy.backend = backend;
      const auto name = std::to_string(prioritised) + std::to_string(static_cast<int>(backend));
      CAPTURE(config.algo, name);
      weights.insert(on.run(algorithm_with(config), name).summary.value().weights_sha256);
    }
  }
  CHECK(weights.size() == 4);
}

TEMPLATE_TEST_CASE("maddpg: returns of agents and losses are columns of progress.csv", "",
                   maddpg_config, matd3_config) {
  stage on;
  const auto run = on.run(algorithm_with(short_run<TestType>()), "run").summary.value();
  const auto one = column_of(run, "rollout/walker_0/ep_rew_mean");
  REQUIRE(!one.empty());
  CHECK(column_of(run, "rollout/walker_1/ep_rew_mean").size() == one.size());
  CHECK_FALSE(has_column(run, "rollout/exploration_rate"));
  for (const char* name : {"train/critic_loss", "train/q_mean", "train/actor_loss"}) {
    CHECK(column_of(run, name).size() == one.size());
  }
}

TEST_CASE("maddpg: another run begins with a model and its critics") {
  stage on;
  auto config = short_run<matd3_config>();
  config.agents.share = false;
  const auto run = on.run(algorithm_with(config), "run").summary.value();
  const auto model = model_of(run);
  CHECK(model.options.kind == network_kind::squashed);
  REQUIRE(model.shape.policies.size() == 2);
  CHECK(model.parameters.numel() == 2 * (3 * 8 + 8 + 8 + 1));
  CHECK(model.beside.size() == 2 * 2 * 4);
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

TEST_CASE("maddpg: frozen and scripted policies learn nothing and act") {
  stage on;
  auto config = short_run<maddpg_config>();
  config.agents.share = false;
  config.checkpoint.every_updates = 0;
  const auto model_after = [&](std::int64_t steps, const std::string& name) {
    auto some = config;
    some.total_steps = steps;
    return model_of(on.run(algorithm_with(some), name).summary.value());
  };
  const auto check = [&](const std::string& name) {
    const auto one = model_after(128, name), more = model_after(320, name + "more");
    const auto half = one.parameters.size(0) / 2;
    const auto of = [half](const saved_model& model, std::int64_t policy) {
      return model.parameters.narrow(0, policy * half, half);
    };
    CHECK(of(one, 0).equal(of(more, 0)));
    CHECK_FALSE(of(one, 1).equal(of(more, 1)));
    CHECK(one.beside[0].second.equal(more.beside[0].second));
    return more;
  };
  config.agents.frozen = {"walker_0"};
  check("frozen");
  config.agents.frozen = {};
  config.agents.scripted = {R"({"walker_0": "random"})"};
  CHECK(check("scripted").shape.policies[0].script == "random");
}

TEST_CASE("maddpg: rewards are shared by their weight") {
  stage on;
  std::set<std::string> weights;
  for (const double shared : {0.0, 0.5, 1.0}) {
    auto config = short_run<maddpg_config>();
    config.agents.shared_reward = shared;
    config.checkpoint.every_updates = 0;
    weights.insert(
        on.run(algorithm_with(config), std::to_string(shared)).summary.value().weights_sha256);
  }
  CHECK(weights.size() == 3);
}

TEMPLATE_TEST_CASE("maddpg: killed collectors cost no more than their steps", "", maddpg_config,
                   matd3_config) {
  stage on;
  log::set_level("off");
  auto config = short_run<TestType>("GatheringLeaving-v0");
  config.faults = "crash=0.01";
  config.checkpoint.every_updates = 0;
  CHECK(on.run(algorithm_with(config), "run").summary.value().steps == config.total_steps);
  log::set_level("info");
}

namespace {

/// Two rowers act in turn, for ever.
class rowing final : public multi_agent_environment {
 public:
  env_spec spec() const override {
    const space at = spaces::box(0, 1, {1}), pull = spaces::box(-1, 1, {1});
    return with_joint_spaces({.id = "Rowing-v0",
                              .max_episode_steps = 8,
                              .agents = {{"bow", at, pull}, {"stroke", at, pull}},
                              .agents_vary = true});
  }
  void begin(std::optional<std::uint64_t>, joint_observation obs) override { show(0, obs); }
  void act(joint_action, joint_observation obs, std::span<agent_step>) override {
    show(1 - next_, obs);
  }

 private:
  void show(std::size_t next, joint_observation obs) {
    next_ = next;
    obs[0][0] = obs[1][0] = static_cast<float>(next);
    obs.set_active(1 - next, false);
  }
  std::size_t next_ = 0;
};

}  // namespace

TEST_CASE("maddpg: a run with agents that act in turn ends with an error that says so") {
  register_environment<rowing>("Rowing-v0");
  stage on;
  log::set_level("off");
  const auto config = short_run<maddpg_config>("Rowing-v0");
  CHECK_THROWS_WITH(
      on.run(algorithm_with(config), "run"),
      Catch::Contains("Rowing-v0: agent ") &&
          Catch::Contains(": expected an agent with continuous actions to act "
                          "in every step until its end, got one that waits for its turn"));
  log::set_level("info");
}

TEMPLATE_TEST_CASE("maddpg: what it can't learn on is refused at the start", "", maddpg_config,
                   matd3_config) {
  auto config = short_run<TestType>("Meeting-v0");
  const auto& name = config.algo;
  CHECK(refusal_of(config).find(name + ": expected agents with actions of a Box with finite "
                                       "bounds, got Meeting-v0, whose agent \"walker_0\" has "
                                       "Discrete(3)") == 0);
  config.env.id = "Pendulum-v1";
  CHECK(refusal_of(config).find(name + ": expected an environment with several agents, got "
                                       "Pendulum-v1") == 0);
  config.env.id = "Gathering-v0";
  CHECK(refusal_of(config).empty());
  auto spec = gathering<false>().spec();
  spec.state_space.reset();
  config.critic = critic_input::state;
  CHECK_THROWS_WITH(config.shape_for(spec), Catch::Contains("global state for the critic"));
  config.critic = critic_input::observations;
  config.policy.device = "cuda";
  CHECK(refusal_of(config).find("cuda") != std::string::npos);
  config.policy.device = "cpu";
  config.replay.n_step = 2;
  CHECK_THROWS_WITH(checked_options(config, "it"),
                    Catch::Contains("/replay/n_step: expected 1 with several agents, got 2"));
}

namespace {

collector_options collecting(agent_collection agents) {
  const auto spec = gathering<false>().spec();
  return {.environments = [] { return std::make_unique<vector_env<gathering<false>>>(5); },
          .shape = joint_shape(spec, {"a", "b"}, {.critic = central_input::observations}),
          .network = {.hidden = {}, .kind = network_kind::squashed},
          .gamma = 0.5,
          .agents = std::move(agents)};
}

std::unique_ptr<collector> collector_of(const collector_options& with,
                                        const service<weight_store>& store) {
  auto made = std::make_unique<collector>(replica_info{}, with, store);
  made->update({0, at::zeros({layout_of(with.shape, with.network).count}), {}});
  return made;
}

double mean_square(const std::vector<float>& actions, std::size_t agent) {
  double sum = 0;
  for (auto i = agent; i < actions.size(); i += 2) sum += actions[i] * actions[i];
  return sum / static_cast<double>(actions.size() / 2);
}

task<> float_actions(system& sys) {
  auto store = co_await sys.serve<weight_store>({.name = "weights"});
  auto one = collector_of(collecting({}), store);
  const auto still = one->collect(0, 7).rows;  // networks of zeros choose the middle of the box
  CHECK(still.action == std::vector<float>(2 * 35, 0.0f));
  CHECK(still.choice.empty());
  CHECK(still.obs[0] == still.next_obs[0]);

  auto noisy = collecting({.explores = {0, 1}});
  noisy.explore.noise = {.kind = noise_kind::normal, .std = 0.2};
  const auto rows = collector_of(noisy, store)->collect(0, 200).rows;
  CHECK(mean_square(rows.action, 0) == 0);
  CHECK(mean_square(rows.action, 1) == Approx(0.04).epsilon(0.2));
  // A row is [place, other's place, goal] of both agents, and the state; -1..1 moves by -0.5..0.5.
  const auto width = rows.obs.size() / rows.size();
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const float moved =
        std::clamp(rows.obs[row * width + 3] + rows.action[2 * row + 1] / 2, -1.0f, 1.0f);
    CHECK(rows.next_obs[row * width + 3] == Approx(moved).margin(1e-5));
  }

  auto starting = collecting({.explores = {0, 1}});
  starting.explore.learning_starts = 1000;
  auto begins = collector_of(starting, store);
  const auto first = begins->collect(0, 200).rows;
  CHECK(mean_square(first.action, 0) == 0);
  CHECK(mean_square(first.action, 1) == Approx(1.0 / 3).epsilon(0.1));
  CHECK(mean_square(begins->collect(1000, 10).rows.action, 1) == 0);

  auto scripted = collecting({});
  scripted.shape.policies[0].script = "random";
  const auto played = collector_of(scripted, store)->collect(0, 200).rows;
  CHECK(mean_square(played.action, 0) == Approx(1.0 / 3).epsilon(0.1));
  CHECK(mean_square(played.action, 1) == 0);
  CHECK_THROWS_WITH(collector_of(collecting({.own_steps = true}), store),
                    Catch::Contains("own_steps: expected false with continuous actions"));
}

}  // namespace

TEST_CASE("collector: continuous actions of several agents have noise where they explore") {
  play(float_actions);
}

TEST_CASE("action_scale: shrink undoes stretch, and clips") {
  const space several = spaces::tuple({spaces::box(0, 4, {1}), spaces::box(-2, 2, {2})});
  const action_scale scale(several);
  std::vector<float> actions{-1, 0.5f, 1};
  scale.stretch(actions.data(), 1);
  CHECK(actions == std::vector<float>{0, 1, 2});
  scale.shrink(actions.data(), 1);
  CHECK(actions == std::vector<float>{-1, 0.5f, 1});
  actions = {9, -9, 0};
  scale.shrink(actions.data(), 1);
  CHECK(actions == std::vector<float>{1, -1, 0});
  const action_scale fixed(spaces::box(3, 3, {1}));
  fixed.shrink(actions.data(), 1);
  CHECK(actions[0] == 0);
  CHECK_THROWS_WITH(action_scale(spaces::tuple({spaces::discrete(2)})),
                    Catch::Contains("expected actions of a Box with finite bounds"));
}

TEMPLATE_TEST_CASE("maddpg: two agents learn to gather", "", maddpg_config, matd3_config) {
  stage on;
  for (const std::string env : {"Gathering-v0", "GatheringLeaving-v0"}) {
    auto config = short_run<TestType>(env);
    config.env.n_envs = 8;
    config.total_steps = 12'000;
    config.collection = {.learning_starts = 500, .train_freq = 4, .gradient_steps = 8};
    config.replay.capacity = 12'000;
    config.trainer.batch_size = 64;
    config.trainer.lr = 2e-3;
    config.policy.hidden = {32};
    config.checkpoint.every_updates = 0;
    config.evaluation = {.every_steps = 0, .final_episodes = 100};
    const auto mean = on.run(algorithm_with(config), env).summary.value().eval_mean;
    INFO(config.algo << " on " << env << ": mean return of an agent " << mean);
    CHECK(mean > -1.5);  // random actions come to about -9
  }
}

}  // namespace troupe
