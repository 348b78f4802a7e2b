#include "actors/torch/torch.hpp"

#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "actors/evaluator/evaluator.hpp"
#include "actors/networks/actor_critic.hpp"
#include "actors/networks/model_file.hpp"
#include "actors/recorder/run_directory.hpp"
#include "actors/worlds/classic_control/cartpole.hpp"
#include "actors/worlds/registry.hpp"
#include "algorithms/on_policy/ppo/ppo.hpp"
#include "runtime/coroutine/combine.hpp"
#include "runtime/metrics/registry.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/algorithms/progress_column.hpp"
#include "tests/runtime/metrics/text.hpp"
#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

using namespace testing;

/// CartPole, but in one of 800 steps something goes wrong, each time another thing.
class faulty_cartpole : public environment {
 public:
  env_spec spec() const override {
    auto spec = inner_.spec();
    spec.id = "FaultyCartPole-v1";
    return spec;
  }
  void reset(std::optional<std::uint64_t> seed, std::span<float> obs) override {
    if (seed) random_.seed(static_cast<std::uint32_t>(*seed));
    inner_.reset(seed, obs);
  }
  step_result step(action_view action, std::span<float> obs) override {
    auto result = inner_.step(action, obs);
    switch (random_() % 1200) {
      case 0:
        if (++faults % 2 == 0) {
          obs[2] = std::numeric_limits<float>::quiet_NaN();
        } else {
          result.reward = -std::numeric_limits<double>::infinity();
        }
        return result;
      case 1:
        throw std::runtime_error("the cart has derailed");
      case 2:
        write_obs(std::vector<float>(3, 0.0f), obs);
        return result;
      default:
        return result;
    }
  }

  static inline int faults = 0;

 private:
  cartpole inner_;
  std::minstd_rand random_;
};

/// Always throws.
class broken : public environment {
 public:
  env_spec spec() const override {
    return {.id = "Broken-v0",
            .observation_space = spaces::box(0.0f, 1.0f, {1}),
            .action_space = spaces::discrete(2)};
  }
  void reset(std::optional<std::uint64_t>, std::span<float> obs) override { obs[0] = 0; }
  step_result step(action_view, std::span<float>) override {
    throw std::runtime_error("it never worked");
  }
};

/// Its reward is never a number.
class nowhere : public broken {
 public:
  env_spec spec() const override {
    auto spec = broken::spec();
    spec.id = "Nowhere-v0";
    return spec;
  }
  step_result step(action_view, std::span<float> obs) override {
    obs[0] = 0;
    return {.reward = std::numeric_limits<double>::quiet_NaN()};
  }
};

/// Its observation isn't one either, from the first on.
class nothing_to_see : public nowhere {
 public:
  env_spec spec() const override {
    auto spec = broken::spec();
    spec.id = "NothingToSee-v0";
    return spec;
  }
  void reset(std::optional<std::uint64_t>, std::span<float> obs) override {
    obs[0] = std::numeric_limits<float>::quiet_NaN();
  }
};

/// CartPole that calls `at_step` once, in the step of that number.
class eventful_cartpole : public environment {
 public:
  env_spec spec() const override {
    auto spec = inner_.spec();
    spec.id = "EventfulCartPole-v1";
    return spec;
  }
  void reset(std::optional<std::uint64_t> seed, std::span<float> obs) override {
    inner_.reset(seed, obs);
  }
  step_result step(action_view action, std::span<float> obs) override {
    if (--steps_left == 0) event();
    return inner_.step(action, obs);
  }

  static inline int steps_left = 0;
  static inline std::function<void()> event;

 private:
  cartpole inner_;
};

void register_all() {
  static const bool once = [] {
    register_environment("FaultyCartPole-v1", [] { return std::make_unique<faulty_cartpole>(); });
    register_environment("EventfulCartPole-v1",
                         [] { return std::make_unique<eventful_cartpole>(); });
    register_environment("Nowhere-v0", [] { return std::make_unique<nowhere>(); });
    register_environment("NothingToSee-v0", [] { return std::make_unique<nothing_to_see>(); });
    register_environment("Broken-v0", [] { return std::make_unique<broken>(); });
    return true;
  }();
  (void)once;
}

ppo_config short_run(training_mode mode, std::uint64_t seed = 1) {
  register_all();
  ppo_config c;
  c.mode = mode;
  c.seed = seed;
  c.total_steps = 4096;
  c.rollout.n_steps = 256;
  c.evaluation.every_steps = 1024;
  c.evaluation.episodes = 4;
  c.evaluation.final_episodes = 5;
  return c;
}

struct played {
  run_summary summary;
  std::string metrics;
};

/// In virtual time; the order of all that happens is drawn from the run's seed.
played train(const ppo_config& config, const std::filesystem::path& root) {
  log::set_level("off");
  system sys({.deterministic = true, .seed = config.seed});
  auto summary = sys.run(train_in(sys, config, {.root = root.string()}));
  return {summary, sys.metrics().text()};
}

}  // namespace

TEST_CASE("train_in: checkpoints, which it can't write, are refused") {
  const temporary_folder folder;
  auto config = short_run(training_mode::sync, 1);
  config.checkpoint.every_updates = 3;
  system sys({.deterministic = true});
  CHECK_THROWS_WITH(sys.run(train_in(sys, config, {.root = folder.path})),
                    Catch::Contains("expected checkpoint.every_updates 0, got 3"));
}

TEST_CASE("train_in: two runs at once in one system, and a third after them") {
  const temporary_folder folder;
  const auto config = short_run(training_mode::sync, 1);
  system sys({.deterministic = true, .seed = 1});
  const auto [first, second] = sys.run(all(train_in(sys, config, {.root = folder.path}),
                                           train_in(sys, config, {.root = folder.path})));
  const auto third = sys.run(train_in(sys, config, {.root = folder.path}));
  CHECK(first.steps == second.steps);
  CHECK(third.steps == first.steps);
  CHECK(first.run_directory != second.run_directory);
  const auto text = sys.metrics().text();
  CHECK_THAT(text, Catch::Contains("service=\"run2_weights\""));
  CHECK_THAT(text, !Catch::Contains("service=\"run3_weights\""));
}

TEST_CASE("train_in: async mode trains on stale data within its bound, sync mode on fresh alone") {
  const temporary_folder folder;
  for (const int bound : {0, 1, 3}) {
    auto config = short_run(training_mode::async);
    config.rollout.max_staleness = bound;
    config.rollout.workers = 3;
    const auto s = train(config, folder.path).summary;
    INFO("bound " << bound);
    CHECK(s.staleness_max <= bound);
    CHECK((s.staleness_mean > 0) == (bound > 0));
  }
  const auto s = train(short_run(training_mode::sync), folder.path).summary;
  CHECK(s.staleness_max == 0);
  CHECK(s.overlap_fraction == 0);
}

TEST_CASE("train_in: several environments and rollouts an update") {
  const temporary_folder folder;
  for (const auto mode : {training_mode::sync, training_mode::async}) {
    auto config = short_run(mode);
    config.env.n_envs = 4;
    config.rollout.n_steps = 64;
    config.rollout.batch = 2;
    const auto s = train(config, folder.path).summary;
    CHECK(s.steps == 4096);
    CHECK(s.eval_episodes == 5);
    const auto run = run_directory::open(s.run_directory);
    CHECK(column(run.progress_csv(), "train/n_updates").back() == 80);  // 8 updates of 10 epochs
  }
}

TEST_CASE("train_in: observations and rewards are normalised, returns reported as they are") {
  const temporary_folder folder;
  for (const auto mode : {training_mode::sync, training_mode::async}) {
    auto config = short_run(mode);
    config.env = {
        .id = "Pendulum-v1", .n_envs = 4, .normalize_obs = true, .normalize_reward = true};
    config.rollout.n_steps = 64;
    const auto s = train(config, folder.path).summary;
    CHECK(s.eval_mean < -500);  // scaled rewards lie within 200 times 10
    CHECK(s.eval_mean > -2000);

    // The model ends with the statistics: means and inverse deviations of cosine, sine and speed.
    const auto model = load_model(run_directory::open(s.run_directory).last_model());
    CHECK(model.options.normalize_obs);
    actor_critic network(model.shape, model.options, 1);
    CHECK(network.parameter_count() == network.trained_count() + 6);
    const auto statistics = model.parameters.narrow(0, network.trained_count(), 6);
    CHECK(statistics.narrow(0, 0, 2).abs().max().item<double>() < 1);
    CHECK(statistics.narrow(0, 3, 2).min().item<double>() > 1);  // deviations below 1
    CHECK(statistics[5].item<double>() < 1);                     // speeds of more than 1
  }
}

TEST_CASE("train_in: an environment that fails now and then costs episodes, not the run") {
  const temporary_folder folder;
  for (const auto mode : {training_mode::sync, training_mode::async}) {
    INFO((mode == training_mode::sync ? "sync" : "async"));
    auto config = short_run(mode);
    config.env.id = "FaultyCartPole-v1";
    config.total_steps = 8192;
    const auto [summary, metrics] = train(config, folder.path);
    CHECK(summary.steps == 8192);
    CHECK(summary.eval_episodes == 5);

    double failures = 0;
    for (const std::string reason : {"threw", "nonfinite", "shape"}) {
      const double count = series(metrics,
                                  "troupe_env_failures_total{env=\"FaultyCartPole-v1\","
                                  "reason=\"" +
                                      reason + "\"}");
      INFO(reason);
      CHECK(count >= 2);
      failures += count;
    }
    CHECK(failures < 80);

    const auto run = run_directory::open(summary.run_directory);
    double dropped = 0;
    for (const double rows : column(run.progress_csv(), "train/dropped_rows")) dropped += rows;
    CHECK(dropped >= failures / 2);  // a rollout's last row may fail alone
    const auto trained = series(metrics, "troupe_train_samples_total");
    CHECK(trained + dropped == 8192);
    CHECK(series(metrics, "troupe_train_skipped_steps_total") == 0);

    const auto model = load_model(run.last_model());
    CHECK(model.parameters.isfinite().all().item<bool>());
    CHECK(weights_sha256(model.parameters) == summary.weights_sha256);
    CHECK(column(run.progress_csv(), "eval/mean_reward").size() == 9);
  }
}

TEST_CASE("train_in: an environment that always fails ends with an error, its models saved") {
  const temporary_folder folder;
  auto config = short_run(training_mode::sync);
  config.env.id = "Broken-v0";
  config.total_steps = 1'000'000;
  CHECK_THROWS_WITH(train(config, folder.path),
                    has_text("Broken-v0: ") &&
                        has_text("episodes were dropped, and none has ended") &&
                        has_text("it threw: it never worked"));
  const auto run = run_directory::open(folder.path / "ppo" / "Broken-v0_1");
  CHECK(load_model(run.last_model()).policy_version <= 2);
}

TEST_CASE("train_in: an environment that gives NaN alone ends with its name and what was NaN") {
  const temporary_folder folder;
  auto config = short_run(training_mode::sync);
  config.total_steps = 512;
  config.env.id = "Nowhere-v0";
  CHECK_THROWS_WITH(train(config, folder.path),
                    has_text("Nowhere-v0: ") && has_text("expected a finite reward, got nan"));
  config.env.id = "NothingToSee-v0";
  CHECK_THROWS_WITH(train(config, folder.path),
                    has_text("environment 0 of NothingToSee-v0") &&
                        has_text("expected a finite observation, got nan as element 0"));
}

TEST_CASE("train_in: a disk that is gone does not end training") {
  const temporary_folder folder;
  const auto root = folder.path / "runs";
  auto config = short_run(training_mode::sync);
  config.env.id = "EventfulCartPole-v1";
  eventful_cartpole::steps_left = 1500;
  eventful_cartpole::event = [&] {
    std::filesystem::remove_all(root);
    std::ofstream(root) << "no folder any more";
  };
  const auto s = train(config, root).summary;
  CHECK(std::filesystem::is_regular_file(root));
  CHECK(s.steps == 4096);
  CHECK(s.weights_sha256.size() == 64);
  CHECK(s.eval_episodes == 5);
}

TEST_CASE("train_in: refuses what it can not begin with") {
  const temporary_folder folder;
  auto config = short_run(training_mode::sync);
  config.env.id = "CartPol-v1";
  CHECK_THROWS_AS(train(config, folder.path), unknown_environment);
  const auto file = folder.path / "file";
  std::ofstream(file) << "x";
  CHECK_THROWS_WITH(train(short_run(training_mode::sync), file),
                    has_text("cannot create a run directory in " + (file / "ppo").string()));
}

TEST_CASE("train_in: two runs in one system follow one another") {
  const temporary_folder folder;
  log::set_level("off");
  system sys({.deterministic = true, .seed = 1});
  const auto config = short_run(training_mode::sync);
  const auto first = sys.run(train_in(sys, config, {.root = folder.path.string()}));
  const auto second = sys.run(train_in(sys, config, {.root = folder.path.string()}));
  CHECK(first.steps == second.steps);
}

TEST_CASE("train_in: runs side by side in one system, each with a prefix, learn as alone") {
  const temporary_folder folder;
  log::set_level("off");
  const auto root = folder.path.string();
  const auto one = short_run(training_mode::sync, 1), other = short_run(training_mode::sync, 2);
  system sys({.deterministic = true, .seed = 1});
  auto both = all(train_in(sys, one, {.root = root, .prefix = "one."}),
                  train_in(sys, other, {.root = root, .prefix = "other."}));
  const auto [first, second] = sys.run(std::move(both));
  CHECK(first.weights_sha256 == train(one, folder.path / "alone").summary.weights_sha256);
  CHECK(second.weights_sha256 == train(other, folder.path / "alone").summary.weights_sha256);
  CHECK(first.weights_sha256 != second.weights_sha256);
  CHECK_THAT(sys.metrics().text(), has_text("service=\"other.trainer\""));
}

TEST_CASE("run_summary: one line of JSON that holds every key") {
  const auto text = run_summary{.env = "X-v0", .mode = training_mode::async}.to_json();
  CHECK(text.find('\n') == text.npos);
  const auto json = nlohmann::json::parse(text);
  for (const char* key : {"algo",
                          "env",
                          "mode",
                          "seed",
                          "steps",
                          "start_s",
                          "wall_s",
                          "cpu_s",
                          "steps_per_s",
                          "eval_mean",
                          "eval_std",
                          "eval_episodes",
                          "solved",
                          "reward_threshold",
                          "stopped",
                          "stop_reason",
                          "rollouts_failed",
                          "staleness_mean",
                          "staleness_max",
                          "overlap_fraction",
                          "metrics_port",
                          "weights_sha256",
                          "run_directory"}) {
    INFO(key);
    CHECK(json.contains(key));
  }
  CHECK(json.at("env") == "X-v0");
  CHECK(json.at("mode") == "async");
}

}  // namespace troupe
