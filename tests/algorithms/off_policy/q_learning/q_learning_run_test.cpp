// Tabular Q-learning as an algorithm of a run. tests/algorithms/contract has what all algorithms
// promise.

#include "actors/torch/torch.hpp"

#include "algorithms/off_policy/q_learning/q_learning.hpp"

#include <nlohmann/json.hpp>

#include "actors/networks/model_file.hpp"
#include "actors/worlds/registry.hpp"
#include "algorithms/run/initial_model.hpp"
#include "algorithms/run/load_policy.hpp"
#include "tests/algorithms/stage.hpp"
#include "tests/captured_stream.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using namespace testing;
using Catch::Contains;

/// A row of places with the observation space `shown`, which has four values. Only the way to the
/// right ends and pays.
class way final : public environment {
 public:
  way(std::string id, space shown) : id_(std::move(id)), shown_(std::move(shown)) {}

  env_spec spec() const override {
    return {.id = id_,
            .observation_space = shown_,
            .action_space = spaces::discrete(2, 3),  // 3 is left, 4 is right
            .max_episode_steps = 20,
            .reward_threshold = 1};
  }
  void reset(std::optional<std::uint64_t>, std::span<float> obs) override {
    place_ = 0;
    show(obs);
  }
  step_result step(action_view action, std::span<float> obs) override {
    place_ = std::max<std::int64_t>(0, place_ + (action.discrete() == 4 ? 1 : -1));
    const bool out = place_ == 4;
    if (out) place_ = 3;
    show(obs);
    return {.reward = out ? 1.0 : 0.0, .terminated = out};
  }

 private:
  void show(std::span<float> obs) const {
    std::ranges::fill(obs, 0.0f);
    if (shown_.get_if<spaces::discrete>()) {
      obs[static_cast<std::size_t>(place_)] = 1;
    } else {  // two parts of two values
      obs[static_cast<std::size_t>(place_ / 2)] = 1;
      obs[static_cast<std::size_t>(2 + place_ % 2)] = 1;
    }
  }

  std::string id_;
  space shown_;
  std::int64_t place_ = 0;
};

void register_ways() {
  static const bool known = [] {
    const auto add = [](const std::string& id, const space& shown) {
      register_environment(id, [id, shown] { return std::make_unique<way>(id, shown); });
    };
    add("WayDiscrete-v0", spaces::discrete(4, -1));
    add("WayMulti-v0", spaces::multi_discrete({2, 2}));
    add("WayTuple-v0", spaces::tuple({spaces::discrete(2), spaces::discrete(2)}));
    return true;
  }();
  static_cast<void>(known);
}

q_learning_config on_way(const std::string& id) {
  register_ways();
  q_learning_config config;
  config.env.id = id;
  config.env.n_envs = 2;
  config.total_steps = 2000;
  config.collection.train_freq = 4;
  config.trainer.lr = 0.5;
  config.evaluation = {.every_steps = 0, .episodes = 1, .final_episodes = 2};
  config.deterministic = true;
  return config;
}

TEST_CASE("q_learning: learns in discrete and multi-discrete states, and in a tuple of them") {
  for (const char* id : {"WayDiscrete-v0", "WayMulti-v0", "WayTuple-v0"}) {
    INFO(id);
    quiet_stage on;
    const auto result = on.run(on_way(id), "runs");
    REQUIRE(result.summary);
    CHECK(result.summary->eval_mean == 1.0);
    const auto model = load_model(run_directory::open(result.run_directory).last_model());
    CHECK(model.algo == "q_learning");
    CHECK(model.options.kind == network_kind::q_table);
    CHECK(model.parameters.numel() == 4 * 2);
    // Right before the end, going right is worth the reward, and one step earlier gamma times it.
    const auto table = model.parameters.view({4, 2});
    CHECK(table[3][1].item<float>() == Approx(1.0).margin(0.01));
    CHECK(table[2][1].item<float>() == Approx(0.99).margin(0.02));
    CHECK(table[3][0].item<float>() < table[3][1].item<float>());
  }
}

TEST_CASE("q_learning: a loaded policy acts by the table, with the environment's numbers") {
  quiet_stage on;
  const auto result = on.run(on_way("WayMulti-v0"), "runs");
  auto policy = load_policy(result.run_directory);
  for (const auto& obs : {std::vector<float>{1, 0, 1, 0}, std::vector<float>{0, 1, 0, 1}}) {
    CHECK(policy.act(obs).discrete.front() == 4);
  }
}

TEST_CASE("q_learning: an asynchronous run learns") {
  quiet_stage on;
  auto config = on_way("WayDiscrete-v0");
  config.mode = training_mode::async;
  config.deterministic = false;
  config.collection.workers = 2;
  CHECK(on.run(config, "runs").summary->eval_mean == 1.0);
}

TEST_CASE("q_learning: a run begins with the table of another") {
  quiet_stage on;
  auto config = on_way("WayDiscrete-v0");
  const auto first = on.run(config, "runs");
  config.total_steps = 8;
  config.exploration.initial = 0;
  auto what = algorithm_with(config);
  what.settings.init = read_initial_model(first.run_directory);
  require_initial_model(what);
  CHECK(on.run(what, "more").summary->eval_mean == 1.0);
}

/// Nothing that is done here pays.
class flat final : public environment {
 public:
  env_spec spec() const override {
    return {.id = "Flat-v0",
            .observation_space = spaces::discrete(2),
            .action_space = spaces::discrete(2)};
  }
  void reset(std::optional<std::uint64_t>, std::span<float> obs) override { show(obs); }
  step_result step(action_view, std::span<float> obs) override {
    show(obs);
    return {.reward = 0, .terminated = true};
  }

 private:
  static void show(std::span<float> obs) {
    std::ranges::fill(obs, 0.0f);
    obs[0] = 1;
  }
};

TEST_CASE("q_learning: a run whose first episodes all pay the same says so once, and no other") {
  register_environment<flat>("Flat-v0");
  const auto told_in = [](const std::string& id) {
    stage on;
    log::set_level("warn");
    const captured_stderr captured;
    on.run(on_way(id), "runs");
    auto text = captured.text();
    log::set_level("info");
    return text;
  };
  const std::string warning = "the first 100 episodes have all had the same return";
  const auto text = told_in("Flat-v0");
  CHECK_THAT(text, Contains(warning) && Contains("env=Flat-v0 return=0"));
  CHECK(text.find(warning) == text.rfind(warning));
  CHECK_THAT(told_in("WayDiscrete-v0"), !Contains(warning));
}

TEST_CASE("q_learning: other spaces are refused in a sentence before anything is made") {
  auto config = on_way("CartPole-v1");
  CHECK_THROWS_WITH(algorithm_with(config).check(),
                    Contains("q_learning: expected an environment with observations of Discrete, "
                             "MultiDiscrete, or a Tuple or Dict of them") &&
                        Contains("got CartPole-v1, whose are Box("));
  config = on_way("Pendulum-v1");
  CHECK_THROWS_WITH(algorithm_with(config).check(),
                    Contains("expected an environment with actions of Discrete, got Pendulum-v1"));
}

TEST_CASE("q_learning: a table that is too large is refused") {
  register_environment("Large-v0", [] {
    return std::make_unique<way>("Large-v0", spaces::multi_discrete({20'000, 20'000}));
  });
  CHECK_THROWS_WITH(algorithm_with(on_way("Large-v0")).check(),
                    Contains("expected a table of 1 to 268435456 entries"));
}

TEST_CASE("q_learning: options of DQN that a table does not have are refused") {
  const auto read = [](const nlohmann::json& document) {
    return parse_config<q_learning_config>(document);
  };
  CHECK(read({{"trainer", {{"lr", 0.3}}}}).trainer.lr == 0.3);
  CHECK_THROWS_WITH(read({{"policy", {{"hidden", {8}}}}}), Contains("policy"));
  CHECK_THROWS_WITH(read({{"env", {{"normalize_obs", true}}}}), Contains("normalize_obs"));
  CHECK_THROWS_WITH(read({{"trainer", {{"alpha", 0.3}}}}), Contains("lr"));
}

TEST_CASE("tabular_learner: learns from each transition once, in order, and goes on exactly") {
  const auto learner = [] {
    return tabular_learner(spaces::discrete(3), 2, {.lr = 0.5, .gamma = 0.5});
  };
  const auto one_hot = [](std::initializer_list<int> states) {
    std::vector<float> rows;
    for (const int state : states)
      for (int i = 0; i < 3; ++i) rows.push_back(i == state ? 1.0f : 0.0f);
    return rows;
  };
  tabular_batch batch;
  batch.resize(1);
  auto& rows = batch[0].rows;
  rows.obs = one_hot({1, 0});
  rows.next_obs = one_hot({2, 1});
  rows.choice = {1, 0};
  rows.reward = {2, 1};
  rows.terminated = {1, 0};
  auto first = learner();
  const auto report = first.update(batch);
  // Q(1, 1) = 0.5 * 2 = 1, then Q(0, 0) = 0.5 * (1 + 0.5 * 1) = 0.75.
  CHECK(first.acting()[3] == 1.0f);
  CHECK(first.acting()[0] == 0.75f);
  CHECK(report.trained_rows == 2);
  CHECK(report["train/n_updates"] == 2);
  CHECK(report["train/td_error"] == Approx((2.0 + 1.5) / 2));
  CHECK(report.learning_rate == 0.5);

  auto other = learner();
  other.restore(first.save());
  CHECK(std::ranges::equal(other.acting(), first.acting()));
  CHECK(first.update(batch, 0.5, 0.1).learning_rate == 0.1);
  other.update(batch, 0.5, 0.1);
  CHECK(std::ranges::equal(other.acting(), first.acting()));
  auto loaded = learner();
  loaded.start_from(first.acting(), {});
  CHECK(std::ranges::equal(loaded.acting(), first.acting()));
  CHECK_THROWS_AS(loaded.start_from(first.acting().first(5), {}), std::invalid_argument);
}

}  // namespace
}  // namespace troupe
