#include "actors/torch/torch.hpp"

#include "algorithms/on_policy/ppo/ppo.hpp"
#include "algorithms/run/open_run.hpp"

#include <fstream>

#include "actors/checkpoint/state_codec.hpp"
#include "actors/networks/model_file.hpp"
#include "actors/recorder/run_directory.hpp"
#include "algorithms/on_policy/rollout.hpp"
#include "runtime/base/log.hpp"
#include "runtime/metrics/registry.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/algorithms/stage.hpp"
#include "tests/algorithms/stop_after.hpp"
#include "tests/runtime/metrics/text.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using testing::stop_after;

ppo_config short_run(training_mode mode, const std::string& env = "CartPole-v1") {
  ppo_config config;
  config.env = {.id = env, .n_envs = 2};
  config.total_steps = 7 * 2 * 32 * 2;
  config.mode = mode;
  config.rollout = {.n_steps = 32, .batch = 2, .workers = 3};
  config.trainer.batch_size = 16;
  config.trainer.n_epochs = 2;
  config.policy.hidden = {8};
  config.evaluation = {.every_steps = 300, .episodes = 2, .final_episodes = 2};
  config.checkpoint.every_updates = 2;
  config.deterministic = true;
  return config;
}

struct stage : testing::quiet_stage {
  /// Checkpoints that were written, by what came of it.
  double checkpoints(const std::string& outcome) const {
    return series(metrics->text(), "troupe_checkpoints_total{outcome=\"" + outcome + "\"}");
  }
};

TEST_CASE("train: stopped between two checkpoints it goes on to the weights of the whole") {
  stage on;
  for (const auto mode : {training_mode::sync, training_mode::async}) {
    const auto config = short_run(mode);
    const std::string name = mode == training_mode::sync ? "sync" : "async";
    CAPTURE(name);
    const auto whole = on.run(config, name).summary.value();
    for (const int updates : {1, 3}) {  // there are checkpoints after 2, 4, 6 and 7
      CAPTURE(updates);
      const auto half = train(config, {.root = on.folder.path / name}, stop_after(updates));
      REQUIRE_FALSE(half.summary);
      CHECK(half.steps == (updates - 1) * 2 * 32 * 2);
      auto again = open_run<ppo_config>(half.run_directory, *on.metrics);
      CHECK(again.from.has_value() == (updates > 1));
      const auto end =
          train(again.config, {.directory = half.run_directory}, {}, std::move(again.from))
              .summary.value();
      CHECK(end.weights_sha256 == whole.weights_sha256);
      CHECK(end.eval_mean == whole.eval_mean);
      CHECK(end.staleness_mean == whole.staleness_mean);
    }
  }
}

TEST_CASE("train: one that is not deterministic keeps what it had learned when it was stopped") {
  stage on;
  auto config = short_run(training_mode::sync);
  config.deterministic = false;
  const auto half = train(config, {.root = on.folder.path}, stop_after(3));
  REQUIRE_FALSE(half.summary);
  CHECK(half.steps == 3 * 2 * 32 * 2);
}

TEST_CASE("train: what a stopped run recorded is that of one that went on") {
  stage on;
  auto config = short_run(training_mode::sync);
  config.checkpoint.every_updates = 1;
  const auto rows = [](const run_result& of) {
    const auto csv = read_text(std::filesystem::path(of.run_directory) / "progress.csv");
    return std::count(csv.begin(), csv.end(), '\n');
  };
  const auto whole = on.run(config, "whole");
  CHECK(rows(on.run_in_pieces(config, "pieces", 1)) == rows(whole));
}

TEST_CASE("train: checkpoints are counted, and the newest are kept") {
  stage on;
  const auto result = on.run(short_run(training_mode::sync), "run");
  CHECK(on.checkpoints("ok") == 4);  // after updates 2, 4, 6 and 7
  CHECK(on.checkpoints("write_error") == 0);
  const auto text = on.metrics->text();
  CHECK(series(text, "troupe_checkpoint_step") == result.steps);
  CHECK(series(text, "troupe_checkpoint_last_success_timestamp_seconds") > 1.6e9);
  const checkpoint_directory kept(std::filesystem::path(result.run_directory) / "checkpoints");
  CHECK(kept.steps() == std::vector<std::int64_t>{7 * 128, 6 * 128, 4 * 128});
}

TEST_CASE("train: checkpoints that can't be written don't change the training") {
  log::set_level("off");
  stage on;
  const auto config = short_run(training_mode::async);
  const auto good = on.run(config, "good");
  const auto bad = std::filesystem::path(good.run_directory).parent_path() / "bad";
  std::filesystem::create_directory(bad);
  std::ofstream(bad / "checkpoints") << "a file in the place of the folder";
  const auto result = train(config, {.directory = bad}, {.metrics = on.metrics});
  log::set_level("info");
  REQUIRE(result.summary);
  CHECK(result.summary->weights_sha256 == good.summary->weights_sha256);
  CHECK(on.checkpoints("ok") == 4);
  CHECK(on.checkpoints("write_error") == 4);
  CHECK(result.saved_steps == 0);
  CHECK(result.unwritten == std::vector<std::filesystem::path>{bad / "checkpoints"});
  CHECK(good.saved_steps == good.steps);
  CHECK(good.unwritten.empty());
}

TEST_CASE("train: what a run could not leave behind is told, and how far it was saved") {
  stage on;
  auto config = short_run(training_mode::sync);
  config.checkpoint.every_updates = 0;
  const auto run = on.folder.path / "run";
  for (const char* name : {"best_model", "last_model", "summary.json"}) {
    std::filesystem::create_directories(run / name / "in the way");
  }
  const auto ended = train(config, {.directory = run}, {});
  CHECK(ended.summary);
  CHECK(ended.unwritten == std::vector<std::filesystem::path>{
                               run / "best_model", run / "last_model", run / "summary.json"});

  config.checkpoint.every_updates = 1;
  const auto kept = on.folder.path / "kept";
  std::filesystem::create_directory(kept);
  const auto stop = [&] {
    if (std::filesystem::is_directory(kept / "checkpoints" / "ckpt-384")) {
      std::filesystem::rename(kept / "checkpoints", kept / "aside");
      std::ofstream(kept / "checkpoints") << "a file in the place of the folder";
    }
    return on.checkpoints("write_error") >= 2;
  };
  const auto stopped =
      train(config, {.directory = kept}, {.metrics = on.metrics, .stop_asked = stop});
  CHECK_FALSE(stopped.summary);
  CHECK(stopped.steps == 5 * 128);
  CHECK(stopped.saved_steps == 3 * 128);
}

TEST_CASE(
    "open_ppo_run: a damaged checkpoint is passed over and counted, another network refused") {
  log::set_level("off");
  stage on;
  const auto result = on.run(short_run(training_mode::sync), "run");
  const std::filesystem::path run = result.run_directory;
  std::ofstream(run / "checkpoints" / "ckpt-896" / "run.bin") << "damaged";
  CHECK(open_run<ppo_config>(run, *on.metrics).from->step == 6 * 128);
  CHECK(on.checkpoints("refused") == 1);

  auto text = read_text(run / "config.json");
  text.replace(text.find("8\n", text.find("\"hidden\"")), 1, "9");
  std::ofstream(run / "config.json") << text;
  CHECK_THROWS_WITH(open_run<ppo_config>(run, *on.metrics),
                    Catch::Contains("hidden 9") && Catch::Contains("hidden 8"));
  log::set_level("info");
}

TEST_CASE("train: one that has checkpoints is not begun anew in its directory") {
  stage on;
  const auto config = short_run(training_mode::sync);
  const auto run = on.run(config, "run").run_directory;
  CHECK_THROWS_WITH(train(config, {.directory = run}, {}),
                    Catch::Contains("expected a checkpoint to go on from, got none; there is one "
                                    "of step 896"));
}

TEST_CASE("train: going on from an older checkpoint leaves those of the other future behind") {
  stage on;
  auto config = short_run(training_mode::sync);
  config.deterministic = false;  // else it is not saved where it stops
  const std::filesystem::path run = on.run(config, "run").run_directory;
  const checkpoint_directory kept(run / "checkpoints");
  const auto stopped = train(config, {.directory = run}, stop_after(1), kept.load(4 * 128));
  CHECK(stopped.steps == 5 * 128);
  CHECK(kept.steps() == std::vector<std::int64_t>{5 * 128, 4 * 128});
}

TEST_CASE("train: one that is stopped without checkpoints keeps the model of that moment") {
  for (const auto mode : {training_mode::sync, training_mode::async}) {
    stage on;
    auto config = short_run(mode);
    config.checkpoint.every_updates = 0;
    const auto result = train(config, {.root = on.folder.path}, stop_after(4));
    CHECK_FALSE(result.summary);
    CHECK(result.steps == 4 * 2 * 32 * 2);
    const auto run = run_directory::open(result.run_directory);
    CHECK(load_model(run.last_model()).policy_version == 4);
    CHECK_FALSE(std::filesystem::exists(run.summary_json()));
  }
}

TEST_CASE("open_ppo_run: a run that keeps no checkpoints is refused") {
  stage on;
  auto config = short_run(training_mode::sync);
  config.checkpoint.every_updates = 0;
  const auto result = on.run(config, "run");
  CHECK_THROWS_WITH(open_run<ppo_config>(result.run_directory, *on.metrics),
                    Catch::Contains("expected a run with checkpoints"));
}

TEST_CASE("rollout: one that was saved comes back whole") {
  rollout r{.policies = {{}}, .steps = 2, .environments = 1};
  auto& of = r.policies[0];
  of.obs = {1.5f, -0.0f};
  of.discrete = {0, 1};
  of.log_prob = {-0.7f, -0.1f};
  of.truncated = {0, 1};
  of.cuts = {{1, 0}};
  r.episodes = {{1, 17.25, 9}};
  r.version = 3;
  r.last_version = 4;
  r.seen = {.obs = {running_moments::unit(2, 3.0)}, .reward = {}, .replica = 5, .number = 6};
  const auto back = state_of<rollout>(state_bytes(r));
  CHECK(state_bytes(back) == state_bytes(r));
  CHECK(back.policies.at(0).obs == of.obs);
  CHECK(back.policies.at(0).cuts.at(0).step == 1);
  CHECK(back.episodes.at(0).episode_return == 17.25);
  CHECK(back.episodes.at(0).length == 9);
  CHECK(back.last_version == 4);
  CHECK(back.seen.obs.at(0).count() == 3.0);
  CHECK(back.seen.replica == 5);
  CHECK(back.seen.number == 6);
}

TEST_CASE("rollout: one whose columns don't fit its steps is refused, naming the column") {
  const network_shape shape{.obs_size = 2, .discrete_actions = 2};
  rollout whole{.policies = {{}}, .steps = 2, .environments = 1};
  auto& of = whole.policies[0];
  of.steps = 2;
  of.columns = 1;
  of.valid = {1, 1};
  of.obs = {1, 2, 3, 4};
  of.discrete = {0, 1};
  of.log_prob = of.value = of.reward = {0.5f, 0.25f};
  of.terminated = {0, 0};
  of.truncated = {0, 1};
  of.cuts = {{1, 0}};
  of.final_obs = of.bootstrap_obs = {5, 6};
  of.final_value = of.bootstrap_value = {1};
  CHECK_NOTHROW(check(whole, shape));

  auto other = whole;
  other.policies[0].log_prob.pop_back();
  CHECK_THROWS_WITH(check(other, shape), "rollout: log_prob: expected 2 numbers, got 1");
  other = whole;
  other.policies[0].bootstrap_obs.push_back(7);
  CHECK_THROWS_WITH(check(other, shape), "rollout: bootstrap_obs: expected 2 numbers, got 3");
  other = whole;
  other.policies[0].cuts = {{2, 0}};
  CHECK_THROWS_WITH(check(other, shape), Catch::Contains("cuts: expected steps of its own"));
  other = whole;
  other.policies[0].columns = 2;
  CHECK_THROWS_WITH(check(other, shape), "rollout: expected 2 steps of 1 columns, got 2 of 2");
  other = whole;
  other.policies.clear();
  CHECK_THROWS_WITH(check(other, shape), "rollout: expected those of 1 policies, got 0");
  CHECK_THROWS_AS(check(whole, {.obs_size = 3, .discrete_actions = 2}), std::invalid_argument);
}

}  // namespace
}  // namespace troupe
