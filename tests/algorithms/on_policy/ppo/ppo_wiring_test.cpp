// What stands between PPO's learner and its run: schedules, staleness, seeds, statistics, the names
// of what is logged. A learner alone can be right while these are wrong.

#include "actors/torch/torch.hpp"

#include <algorithm>
#include <cmath>

#include "actors/networks/actor_critic.hpp"
#include "actors/networks/model_file.hpp"
#include "actors/random/numpy_random.hpp"
#include "actors/recorder/run_directory.hpp"
#include "actors/worlds/registry.hpp"
#include "algorithms/on_policy/a2c/a2c.hpp"
#include "algorithms/on_policy/ppo/ppo.hpp"
#include "runtime/base/log.hpp"
#include "runtime/metrics/registry.hpp"
#include "tests/algorithms/progress_column.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

/// Shows noise of its own generator, and keeps what it has shown and what was done. Episodes end
/// after 20 steps.
class watched final : public environment {
 public:
  env_spec spec() const override {
    return {.id = "Watched-v0",
            .observation_space = spaces::box(-1e3f, 1e3f, {2}),
            .action_space = spaces::discrete(2)};
  }
  void reset(std::optional<std::uint64_t> seed, std::span<float> obs) override {
    if (seed) random_ = numpy_random(*seed);
    steps_ = 0;
    show(obs);
  }
  step_result step(action_view action, std::span<float> obs) override {
    actions.push_back(action.discrete());
    if (++steps_ == 20) {  // nobody acts on it
      obs[0] = obs[1] = 1000;
      return {.reward = 1, .terminated = true};
    }
    show(obs);
    return {.reward = 1};
  }
  bool save(state_writer& to) const override {
    to.put("steps", steps_);
    put_random(to, "random", random_);
    return true;
  }
  void restore(const state_reader& from) override {
    from.get("steps", steps_);
    random_ = get_random(from, "random");
  }

  static inline std::vector<float> rows;            // [n, 2]
  static inline std::vector<std::int64_t> actions;  // [n]

 private:
  void show(std::span<float> obs) {
    obs[0] = static_cast<float>(random_.uniform(4, 7));
    obs[1] = static_cast<float>(1e-3 * random_.uniform(-1, 2));
    rows.insert(rows.end(), obs.begin(), obs.end());
  }
  numpy_random random_{0};
  int steps_ = 0;
};

ppo_config short_run(training_mode mode, const std::string& env) {
  static const bool known = (register_environment<watched>("Watched-v0"), true);
  REQUIRE(known);
  watched::rows.clear();
  watched::actions.clear();
  ppo_config config;
  config.env.id = env;
  config.env.n_envs = 2;
  config.mode = mode;
  config.rollout.n_steps = 32;
  config.total_steps = 3 * 64;
  config.trainer.batch_size = 16;
  config.trainer.n_epochs = 2;
  config.policy.hidden = {8};
  config.evaluation.every_steps = 0;
  config.evaluation.final_episodes = 2;
  config.deterministic = true;
  return config;
}

/// A run in a folder of its own.
struct finished {
  explicit finished(const algorithm& what) {
    log::set_level("off");
    const auto metrics = std::make_shared<metrics_registry>();
    result = train(what, {.root = folder.path.string()}, {.metrics = metrics});
    log::set_level("info");
  }
  std::vector<double> logged(const std::string& name) const {
    return testing::column(run_directory::open(result.run_directory).progress_csv(), name);
  }
  bool logs(const std::string& name) const {
    const auto csv = run_directory::open(result.run_directory).progress_csv();
    return testing::find_column(csv, name).has_value();
  }
  saved_model model() const {
    return load_model(run_directory::open(result.run_directory).last_model());
  }

  temporary_folder folder;
  run_result result;
};

}  // namespace

TEST_CASE("train_in: linear schedules count the steps of the rollout that is trained on") {
  // Stable-Baselines3: 1 - num_timesteps / total_timesteps, after collecting.
  for (const auto mode : {training_mode::sync, training_mode::async}) {
    auto config = short_run(mode, "CartPole-v1");
    config.trainer.lr = 3e-4;
    config.trainer.lr_schedule = annealing::linear;
    config.trainer.clip_range = 0.3;
    config.trainer.clip_schedule = annealing::linear;
    const finished run(algorithm_with(config));
    const auto rates = run.logged("train/learning_rate");
    const auto ranges = run.logged("train/clip_range");
    REQUIRE(rates.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(rates[i] == Approx(1e-4 * (2.0 - static_cast<double>(i))).margin(1e-12));
      CHECK(ranges[i] == Approx(0.1 * (2.0 - static_cast<double>(i))).margin(1e-12));
    }
  }
}

TEST_CASE("train_in: linear schedules keep their last values after schedule_steps") {
  auto config = short_run(training_mode::sync, "CartPole-v1");
  config.trainer.lr = 3e-4;
  config.trainer.lr_schedule = annealing::linear;
  config.schedule_steps = config.total_steps;
  config.total_steps += 2 * config.steps_of_update();
  const finished run(algorithm_with(config));
  const auto rates = run.logged("train/learning_rate");
  REQUIRE(rates.size() == 5);
  for (std::size_t i = 0; i < 5; ++i)
    CHECK(rates[i] == Approx(1e-4 * std::max(0.0, 2.0 - static_cast<double>(i))).margin(1e-12));
}

TEST_CASE("train_in: a rollout of older weights is trained on as stale") {
  // Of fresh data the weight of each row is 1, and so is that of stale data that is taken for
  // fresh.
  auto config = short_run(training_mode::async, "CartPole-v1");
  config.total_steps = 12 * 64;
  config.rollout.workers = 3;
  config.rollout.max_staleness = 2;
  config.trainer.lr = 1e-2;
  const finished late(algorithm_with(config));
  CHECK(late.result.summary->staleness_mean > 0.5);
  const auto weights = late.logged("train/importance_weight");
  const auto apart = [](double weight) { return std::abs(weight - 1.0) > 1e-4; };
  CHECK(std::ranges::count_if(weights, apart) >= 6);

  config.mode = training_mode::sync;
  const finished fresh(algorithm_with(config));
  for (const double weight : fresh.logged("train/importance_weight")) CHECK(weight == 1.0);
}

TEST_CASE("train_in: the model's statistics are those of all observations that were acted on") {
  for (const int every_updates : {0, 1}) {  // with a checkpoint between the updates, too
    INFO("checkpoints each " << every_updates << " updates");
    auto config = short_run(training_mode::sync, "Watched-v0");
    config.env.normalize_obs = config.env.normalize_reward = true;
    config.rollout.batch = 2;
    config.total_steps = 4 * 128;
    config.checkpoint.every_updates = every_updates;
    const finished run(algorithm_with(config));
    // Four environments' first observations, and those after each of 128 steps.
    constexpr std::size_t count = 4 + 4 * 128;
    REQUIRE(watched::rows.size() >= 2 * count);
    const auto model = run.model();
    const auto statistics = model.parameters.narrow(0, model.parameters.numel() - 4, 4);
    for (std::size_t d = 0; d < 2; ++d) {
      double mean = 0, squares = 1e-4;  // the prior: variance 1, mean 0, of 1e-4 rows
      for (std::size_t i = 0; i < count; ++i) mean += watched::rows[2 * i + d];
      mean /= count + 1e-4;
      squares += 1e-4 * mean * mean;
      for (std::size_t i = 0; i < count; ++i) {
        squares += std::pow(watched::rows[2 * i + d] - mean, 2);
      }
      const double scale = 1.0 / std::sqrt(squares / (count + 1e-4) + 1e-8);
      const auto at = static_cast<std::int64_t>(d);
      CHECK(statistics[at].item<double>() == Approx(mean).epsilon(1e-6));
      CHECK(statistics[at + 2].item<double>() == Approx(scale).epsilon(1e-6));
    }
  }
}

TEST_CASE("train_in: the seed decides the first weights and what is drawn from the policy") {
  // Steps so small that the last weights are the first.
  auto config = short_run(training_mode::sync, "Watched-v0");
  config.trainer.lr = 1e-12;
  const auto play = [&](std::uint64_t seed) {
    config.seed = seed;
    watched::actions.clear();
    const finished run(algorithm_with(config));
    std::vector<std::int64_t> drawn(watched::actions.begin(), watched::actions.begin() + 3 * 64);
    return std::pair(run.model().parameters.clone(), drawn);
  };
  const auto [first, first_drawn] = play(1);
  const auto [same, same_drawn] = play(1);
  const auto [other, other_drawn] = play(2);
  CHECK(at::equal(first, same));
  CHECK(first_drawn == same_drawn);
  CHECK((first - other).abs().max().item<double>() > 0.1);
  // All first policies are nearly uniform: equal draws would choose equal actions.
  int equal = 0;
  for (std::size_t i = 0; i < first_drawn.size(); ++i) equal += first_drawn[i] == other_drawn[i];
  CHECK(equal > 192 * 0.3);
  CHECK(equal < 192 * 0.7);
}

TEST_CASE("train_in: what is logged has Stable-Baselines3's names") {
  const finished discrete(algorithm_with(short_run(training_mode::sync, "CartPole-v1")));
  CHECK(discrete.logged("time/iterations") == std::vector<double>{1, 2, 3});
  CHECK_FALSE(discrete.logs("train/std"));
  CHECK(discrete.logs("train/policy_gradient_loss"));
  CHECK_FALSE(discrete.logs("train/policy_loss"));

  auto config = short_run(training_mode::sync, "Pendulum-v1");
  config.policy.log_std_init = -1;
  const finished continuous(algorithm_with(config));
  REQUIRE(continuous.logged("train/std").size() == 3);
  CHECK(continuous.logged("train/std")[0] == Approx(std::exp(-1.0)).epsilon(0.05));

  a2c_config same;
  static_cast<on_policy_config&>(same) = short_run(training_mode::sync, "CartPole-v1");
  same.algo = "a2c";
  const finished a2c(algorithm_with(same));
  for (const char* name : {"train/policy_loss", "train/value_loss", "train/entropy_loss",
                           "train/explained_variance", "train/learning_rate", "train/n_updates"}) {
    INFO(name);
    CHECK(a2c.logs(name));
  }
  CHECK_FALSE(a2c.logs("train/policy_gradient_loss"));
}

}  // namespace troupe
