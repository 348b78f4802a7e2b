#include "actors/torch/torch.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <set>

#include "actors/llm/files/llm_file_error.hpp"
#include "actors/llm/model/read_model.hpp"
#include "actors/llm/tasks/letters_model.hpp"
#include "actors/llm/tokenizer/read_tokenizer.hpp"
#include "algorithms/language_models/grpo/config.hpp"
#include "algorithms/language_models/grpo/grpo.hpp"
#include "algorithms/language_models/grpo/grpo_defaults.hpp"
#include "algorithms/language_models/grpo/grpo_evaluation.hpp"
#include "algorithms/language_models/grpo/grpo_task.hpp"
#include "runtime/base/log.hpp"
#include "runtime/metrics/registry.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/algorithms/language_models/chat_model.hpp"
#include "tests/algorithms/language_models/grpo/weight_bytes.hpp"
#include "tests/algorithms/progress_column.hpp"
#include "tests/algorithms/stop_after.hpp"
#include "tests/message_of.hpp"
#include "tests/runtime/metrics/text.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using testing::column_of;

/// Four updates, each of four groups of four answers.
grpo_config small_run(training_mode mode, const std::string& task = "sum_digits") {
  grpo_config config;
  config.task.name = task;
  config.total_steps = 4;
  config.seed = 5;
  config.mode = mode;
  config.deterministic = true;
  config.warm_start = {.batches = 3, .batch_size = 8, .lr = 1e-3};
  config.rollout.prompts = config.rollout.group = 4;
  config.rollout.max_completion_tokens = 4;
  config.rollout.workers = 6;
  config.rollout.max_staleness = 2;
  config.trainer.zero_variance_groups = zero_variance_rule::keep;
  config.evaluation = {.every_updates = 2, .problems = 4, .final_problems = 6, .stop_at = {}};
  return config;
}

const std::vector<std::string> tasks{"sum_digits", "blackjack"};

run_summary run(const grpo_config& config, const std::string& root) {
  auto result = train(algorithm_with(config), {.root = root}, {});
  REQUIRE(result.summary);
  return *result.summary;
}

/// What a run in that folder has to have left behind.
void check_files(const std::filesystem::path& run) {
  for (const auto* name : {"config.json", "progress.csv", "summary.json", "samples.jsonl",
                           "last_model/model.safetensors", "last_model/config.json"}) {
    CAPTURE(name);
    CHECK(std::filesystem::exists(run / name));
  }
  std::ifstream samples(run / "samples.jsonl");
  int lines = 0;
  for (std::string line; std::getline(samples, line); ++lines) {
    const auto sample = nlohmann::json::parse(line);
    CHECK(sample.at("best").at("reward") >= sample.at("worst").at("reward"));
    CHECK(sample.at("answers") == 4);
  }
  CHECK(lines == 4 * 4);
}

TEST_CASE("grpo: a run leaves its configuration, numbers, samples and models behind") {
  const temporary_folder folder;
  for (const auto* task : {"sum_digits", "blackjack", "tic_tac_toe"}) {
    for (const auto mode : {training_mode::sync, training_mode::async}) {
      const auto summary = run(small_run(mode, task), folder.path.string());
      CHECK(summary.steps == 4);
      CHECK(summary.env == task);
      CHECK(summary.eval_episodes == 6);
      CHECK(summary.rollouts_failed == 0);
      CHECK(summary.staleness_max <= (mode == training_mode::sync ? 0 : 2));
      check_files(summary.run_directory);
    }
  }
}

/// One function to be written, which the warm start teaches by heart.
grpo_config code_run(const std::filesystem::path& model) {
  auto config = small_run(training_mode::sync);
  config.task = {.name = "code", .problems = {.size = 1, .training = 1, .held_out = 1}};
  config.allow_unsandboxed_code = true;
  config.code.wall_s = 60;
  config.model.path = model.string();
  config.deterministic = false;
  config.total_steps = 1;
  config.warm_start = {.batches = 100, .batch_size = 1, .lr = 5e-3};
  config.rollout.prompts = config.rollout.group = 2;
  config.rollout.max_completion_tokens = 80;
  config.rollout.temperature = 0.1;
  config.evaluation = {.every_updates = 0, .problems = 1, .final_problems = 1, .stop_at = {}};
  return config;
}

TEST_CASE("grpo: a deadline that no answer can keep ends the run with its reason") {
  const temporary_folder folder;
  auto config = small_run(training_mode::sync);
  config.deterministic = false;
  config.warm_start.batches = 0;
  config.evaluation.every_updates = 0;
  config.rollout.prompts = config.rollout.group = 64;
  config.rollout.rounds = 1;
  config.rollout.answer_deadline_s = 1e-9;
  log::set_level("off");
  CHECK_THROWS_WITH(run(config, folder.path.string()),
                    Catch::Contains("dropped, by reason: deadline 64"));
  log::set_level("info");
}

TEST_CASE("grpo: coders have the limits and the users of the configuration") {
  grpo_config config;
  config.code = {
      .wall_s = 1.5, .memory_mib = 64, .processes = 7, .first_user = 2000, .last_user = 3000};
  const auto made = detail::coders_of(config);
  CHECK(!made.allow_unsandboxed);
  CHECK(made.sandbox.limits.wall_s == 1.5);
  CHECK(made.sandbox.limits.cpu_s == 2);
  CHECK(made.sandbox.limits.memory_bytes == 64 << 20);
  CHECK(made.sandbox.limits.processes == 7);
  CHECK(made.sandbox.parallel == 2);
  CHECK(made.sandbox.first_user == 2000);
  CHECK(made.sandbox.last_user == 3000);
  config.allow_unsandboxed_code = true;
  CHECK(detail::coders_of(config).allow_unsandboxed);
}

TEST_CASE("grpo: code that a chat model writes is run on its tests") {
  const temporary_folder folder;
  testing::write_chat_model(folder.path / "model");
  const auto config = code_run(folder.path / "model");
  const auto summary = run(config, folder.path.string());
  CHECK(summary.rollouts_failed == 0);
  std::ifstream samples(std::filesystem::path(summary.run_directory) / "samples.jsonl");
  int groups = 0;
  for (std::string line; std::getline(samples, line); ++groups) {
    const auto sample = nlohmann::json::parse(line);
    CAPTURE(line);
    CHECK(sample.at("answers") == 2);
    CHECK(sample.at("best").at("reward") == 1.0);
  }
  CHECK(groups == 2);

  // Its model has all that a chat model's folder needs.
  std::filesystem::remove_all(folder.path / "model");
  const auto last = std::filesystem::path(summary.run_directory) / "last_model";
  CHECK(evaluate_model(config, last, 1).mean == summary.eval_mean);
}

TEST_CASE("grpo: code is refused where it may not be run, or can't be written") {
  auto config = code_run("nowhere");
  config.allow_unsandboxed_code = false;
  const std::string path = ::getenv("PATH");
  ::setenv("PATH", "/nowhere", 1);  // where bubblewrap is not
  CHECK_THROWS_WITH(algorithm_with(config), Catch::Contains("this machine can't make a sandbox") &&
                                                Catch::Contains("--allow-unsandboxed-code"));
  ::setenv("PATH", path.c_str(), 1);
  config.allow_unsandboxed_code = true;
  config.rollout.answer_deadline_s = config.code.wall_s + 1;
  CHECK_THROWS_WITH(algorithm_with(config),
                    Catch::Contains("at least code.wall_s and 15 more, 75"));
  config.rollout.answer_deadline_s = 14'400;
  config.deterministic = true;
  CHECK_THROWS_WITH(algorithm_with(config), Catch::Contains("/deterministic: expected false"));
  config.deterministic = false;
  config.model.path = "";
  CHECK_THROWS_WITH(algorithm_with(config),
                    Catch::Contains("/model/path: expected a chat model's folder"));
  CHECK_THROWS_AS(
      parse_config<grpo_config>(nlohmann::json::parse(R"({"allow_unsandboxed_code": true})")),
      config_error);
}

TEST_CASE("grpo: the model of a run is evaluated as the run has evaluated it") {
  const temporary_folder folder;
  auto config = small_run(training_mode::sync);
  config.warm_start = {.batches = 30, .batch_size = 32, .lr = 3e-3};
  config.task.problems = {.size = 1, .training = 4, .held_out = 5};
  config.evaluation = {.every_updates = 2, .problems = 2, .final_problems = 3, .stop_at = {}};
  const auto summary = run(config, folder.path.string());
  const auto last = std::filesystem::path(summary.run_directory) / "last_model";
  const auto seen = evaluate_model(config, last, 3);
  CHECK(seen.mean == summary.eval_mean);
  CHECK(seen.returns.size() == 3);
  CHECK_THROWS_WITH(evaluate_model(config, last, 4), Catch::Contains("1 to 3 problems"));
  CHECK_THROWS_AS(evaluate_model(config, folder.path / "nowhere", 3), llm::llm_file_error);

  const auto tokens = llm::read_tokenizer(last);
  CHECK(tokens.encode("12+3=") == llm::letters_tokenizer().encode("12+3="));
}

TEST_CASE("grpo: the warm start is on the examples of a file, if there is one") {
  const temporary_folder folder;
  auto config = small_run(training_mode::sync);
  config.warm_start = {
      .data = (folder.path / "nines.jsonl").string(), .batches = 60, .batch_size = 16, .lr = 3e-3};
  config.rollout.temperature = 0.01;  // nearly always the likeliest answer
  config.total_steps = 1;
  config.evaluation.every_updates = 0;
  CHECK_THROWS_WITH(run(config, folder.path.string()), Catch::Contains("nines.jsonl"));
  std::ofstream(config.warm_start.data) << "{\"prompt\": \"1234>\"}\n{\"prompt\": \"1\"}\n";
  CHECK_THROWS_WITH(run(config, folder.path.string()),
                    Catch::Contains("nines.jsonl:1: expected the field \"answer\"") &&
                        Catch::Contains("nines.jsonl:2: "));
  CHECK(!std::filesystem::exists(folder.path / "grpo" / "sum_digits_1"));
  {
    std::ofstream to(config.warm_start.data);  // a wrong answer to every problem
    for (int i = 1000; i < 1100; ++i)
      to << nlohmann::json{{"prompt", std::to_string(i) + '>'}, {"answer", "99"}}.dump() << '\n';
  }
  const auto summary = run(config, folder.path.string());
  std::ifstream samples(std::filesystem::path(summary.run_directory) / "samples.jsonl");
  int groups = 0, nines = 0;
  for (std::string line; std::getline(samples, line); ++groups)
    nines += nlohmann::json::parse(line)["worst"]["text"] == "99";
  CHECK(groups == 4);
  CHECK(nines == 4);
}

TEST_CASE("grpo: a file for the warm start gives a task in Python one, too") {
  grpo_config config;
  const auto batches = [&](const std::string& task, const std::string& data) {
    config.warm_start.data = data;
    return completed(config, find_task(task)).warm_start.batches.value();
  };
  CHECK(batches("python:a:b", "") == 0);
  CHECK(batches("python:a:b", "a.jsonl") == 120);
  CHECK(batches("sum_digits", "a.jsonl") == 120);
}

TEST_CASE("grpo: a stop in the warm start ends the run there") {
  const temporary_folder folder;
  for (const bool deterministic : {true, false}) {
    for (const std::int64_t checkpoint_every : {0, 2}) {
      CAPTURE(deterministic, checkpoint_every);
      auto config = small_run(training_mode::sync);
      config.deterministic = deterministic;
      config.checkpoint.every_updates = checkpoint_every;
      config.warm_start.batches = 30;
      const auto what = algorithm_with(config);
      int asked = 0;
      const run_options stopping{.stop_asked = [&] { return ++asked > 5; }};
      const auto stopped = train(what, {.root = folder.path.string()}, stopping);
      CHECK(!stopped.summary);
      CHECK(stopped.steps == 0);
      CHECK(asked < 20);
      CHECK(stopped.run_directory.empty() == (checkpoint_every == 0));
      if (checkpoint_every == 0) continue;
      metrics_registry metrics;
      CHECK(!newest_checkpoint(stopped.run_directory, what.settings, metrics));
      const auto resumed = train(what, {.directory = stopped.run_directory}, {});
      REQUIRE(resumed.summary);
      CHECK(resumed.summary->steps == 4);
      if (!deterministic) continue;
      CHECK(resumed.summary->weights_sha256 == run(config, folder.path.string()).weights_sha256);
    }
  }
}

TEST_CASE("grpo: a stop ends an evaluation, before the first update as at the end") {
  const temporary_folder folder;
  for (const auto& task : tasks) {
    CAPTURE(task);
    auto config = small_run(training_mode::sync, task);
    config.warm_start.batches = 0;
    int asked = 0;
    const run_options stopping{.stop_asked = [&] { return ++asked > 2; }};
    const auto begun = train(algorithm_with(config), {.root = folder.path.string()}, stopping);
    CHECK(!begun.summary);
    CHECK(begun.steps == 0);

    config.evaluation.every_updates = 0;
    asked = -5;  // before the first update, and after each
    const auto ended = train(algorithm_with(config), {.root = folder.path.string()}, stopping);
    CHECK(!ended.summary);
    CHECK(ended.steps == 4);
    CHECK(std::filesystem::exists(std::filesystem::path(ended.run_directory) / "last_model"));
  }
}

TEST_CASE("grpo: a run whose start is good enough ends there, with its model") {
  const temporary_folder folder;
  for (const std::int64_t checkpoint_every : {0, 2}) {
    CAPTURE(checkpoint_every);
    auto config = small_run(training_mode::sync);
    config.evaluation.stop_at = 0.0;
    config.checkpoint.every_updates = checkpoint_every;
    const auto summary = run(config, folder.path.string());
    CHECK(summary.steps == 0);
    CHECK(summary.stopped);
    CHECK(summary.eval_episodes == 6);
    const std::filesystem::path left = summary.run_directory;
    CHECK(testing::weight_bytes(left / "best_model") == testing::weight_bytes(left / "last_model"));
    if (checkpoint_every == 0) continue;
    metrics_registry metrics;
    const auto what = algorithm_with(config);
    auto from = newest_checkpoint(left.string(), what.settings, metrics);
    REQUIRE(from);
    const auto again = train(what, {.directory = left.string()}, {}, std::move(from));
    CHECK(again.summary.value().steps == 0);
    CHECK(again.summary->eval_mean == summary.eval_mean);
  }
}

TEST_CASE("grpo: a run that was stopped in its first evaluation goes on with that") {
  const temporary_folder folder;
  auto config = small_run(training_mode::sync);
  config.deterministic = false;
  config.checkpoint.every_updates = 2;
  const auto what = algorithm_with(config);
  run_options stopping{.metrics = std::make_shared<metrics_registry>()};
  const std::string answered =
      R"(troupe_requests_total{outcome="ok",route="generator::generate_group",service="generator"})";
  stopping.stop_asked = [&answered, metrics = stopping.metrics] {
    return series(metrics->text(), answered) > 0;  // once the evaluation has an answer
  };
  const auto stopped = train(what, {.root = folder.path.string()}, stopping);
  REQUIRE(!stopped.summary);
  CHECK(stopped.steps == 0);
  metrics_registry metrics;
  auto from = newest_checkpoint(stopped.run_directory, what.settings, metrics);
  REQUIRE(from);  // the warm start is not done again

  std::vector<std::int64_t> evaluations;
  run_options watching;
  watching.callbacks.stop = {[&](const loops::score_history& seen) {
    evaluations.push_back(seen.evaluations);
    return false;
  }};
  const auto resumed = train(what, {.directory = stopped.run_directory}, watching, std::move(from));
  REQUIRE(resumed.summary);
  CHECK(resumed.summary->steps == 4);
  CHECK(evaluations == std::vector<std::int64_t>{1, 2, 3});
}

TEST_CASE("grpo: a refreshed reference and adapters change what is learned") {
  const temporary_folder folder;
  auto config = small_run(training_mode::sync, "blackjack");
  config.warm_start.batches = 20;  // so that moves are legal
  config.trainer.kl_coef = 0.5;
  config.trainer.lr = 3e-3;
  auto refreshed = config, adapted = config;
  refreshed.trainer.reference_every_updates = 1;
  adapted.trainer.kl_coef = 0.0;
  adapted.trainer.lora.rank = 2;
  std::set<std::string> ends{run(config, folder.path.string()).weights_sha256};
  for (const auto& other : {refreshed, adapted}) {
    CAPTURE(other.trainer.lora.rank);
    ends.insert(run(other, folder.path.string()).weights_sha256);
  }
  adapted.trainer.lr = 1e-30;
  ends.insert(run(adapted, folder.path.string()).weights_sha256);
  CHECK(ends.size() == 4);
}

TEST_CASE("grpo: the model of a run with adapters has them merged") {
  const temporary_folder folder;
  auto config = small_run(training_mode::sync, "blackjack");
  config.trainer.lora = {.rank = 2, .alpha = 4.0, .targets = {llm::projection::o}};
  config.trainer.lr = 3e-3;
  config.trainer.warmup_updates = 0;
  const auto summary = run(config, folder.path.string());
  const std::filesystem::path left = summary.run_directory;
  const auto learned = llm::read_model(left / "last_model");
  CHECK(evaluate_model(config, left / "last_model", 6).mean == summary.eval_mean);
  config.total_steps = 1;
  config.trainer.lr = 1e-30;
  const auto began = llm::read_model(
      std::filesystem::path(run(config, folder.path.string()).run_directory) / "last_model");
  CHECK(at::equal(learned.weights.embedding, began.weights.embedding));
  for (std::size_t i = 0; i < learned.weights.layers.size(); ++i) {
    CHECK(at::equal(learned.weights.layers[i].q, began.weights.layers[i].q));
    CHECK(!at::equal(learned.weights.layers[i].o, began.weights.layers[i].o));
  }
}

TEST_CASE("grpo: adapters have ten times the step size where none is asked for") {
  grpo_config config;
  const auto lr = [&] { return completed(config, find_task(config.task.name)).trainer.lr.value(); };
  for (const auto& task : tasks) {
    config = {};
    config.task.name = task;
    const double of_all = lr();
    config.trainer.lora.rank = 4;
    CHECK(lr() == Approx(10 * of_all));
    config.trainer.lr = 0.5;
    CHECK(lr() == 0.5);
  }
}

TEST_CASE("grpo: games have defaults of their own, and what is said wins over them") {
  grpo_config config;
  const auto completed = [](const grpo_config& c) { return troupe::completed(c, task_of(c)); };
  CHECK(completed(config).trainer.advantages() == advantage_kind::group_std);
  CHECK(completed(config).trainer.penalty() == 0.0);
  CHECK(completed(config).trainer.lr == 1e-4);
  config.task.name = "blackjack";
  CHECK(completed(config).trainer.advantages() == advantage_kind::group_mean);
  CHECK(completed(config).trainer.penalty() == 0.1);
  CHECK(completed(config).trainer.lr == 1e-3);
  CHECK(completed(config).world.turns == 6);
  config.task.name = "connect_four";
  CHECK(completed(config).world.turns == 21);
  config.world.turns = 3;
  config.trainer.variant = grpo_variant::dapo;
  config.trainer.kl_coef = 0.0;
  config.trainer.lr = 1e-4;
  CHECK(completed(config).trainer.advantages() == advantage_kind::group_std);
  CHECK(completed(config).trainer.penalty() == 0.0);
  CHECK(completed(config).trainer.lr == 1e-4);
  CHECK(completed(config).world.turns == 3);
  config.trainer.lr.reset();
  config.model.path = "a chat model";
  CHECK(completed(config).trainer.lr == 1e-5);
}

/// XDG_CACHE_HOME while it lives.
class cache_home {
 public:
  explicit cache_home(const std::filesystem::path& folder) {
    if (const char* before = std::getenv("XDG_CACHE_HOME")) before_ = before;
    ::setenv("XDG_CACHE_HOME", folder.c_str(), 1);
  }
  cache_home(const cache_home&) = delete;
  ~cache_home() {
    if (before_) ::setenv("XDG_CACHE_HOME", before_->c_str(), 1);
    if (!before_) ::unsetenv("XDG_CACHE_HOME");
  }

 private:
  std::optional<std::string> before_;
};

TEST_CASE("grpo: a configuration names an installed model as the command line does") {
  const temporary_folder folder;
  const cache_home cache(folder.path);
  grpo_config config;
  config.model.path = "smollm2";
  CHECK_THROWS_WITH(algorithm_with(config),
                    holds("\"smollm2\" is not installed: `troupe models get smollm2` does it"));
  const auto file = folder.path / "troupe" / "models" / "smollm2.gguf";
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file) << "a model";
  const auto named = algorithm_with(config).settings;
  CHECK(named.model == file.string());
  CHECK(nlohmann::json::parse(named.config)["model"]["path"] == file.string());
  config.model.path = "models/another";
  CHECK(algorithm_with(config).settings.model == "models/another");
}

TEST_CASE("grpo: a run goes on from a checkpoint with its reference and its adapters") {
  const temporary_folder folder;
  auto config = small_run(training_mode::sync, "blackjack");
  config.warm_start.batches = 20;
  config.checkpoint.every_updates = 2;  // a deterministic run goes on from each of them
  config.trainer.lr = 3e-3;
  auto refreshed = config, adapted = config;
  refreshed.trainer.reference_every_updates = 3;
  const auto distance = column_of(run(refreshed, folder.path.string()), "train/kl_reference");
  REQUIRE(distance.size() == 4);
  CHECK(distance[2] > 1e-5);  // the first weights, not those of the checkpoint
  CHECK(distance[3] < 0.9 * distance[2]);

  adapted.trainer.lora.rank = 2;
  adapted.trainer.lr = 3e-2;
  const auto ratios = column_of(run(adapted, folder.path.string()), "train/ratio");
  REQUIRE(ratios.size() == 4);
  for (const double ratio : ratios) CHECK(ratio == Approx(1.0).margin(1e-4));
}

TEST_CASE("grpo: the entropy bonus stands in progress.csv") {
  const temporary_folder folder;
  auto config = small_run(training_mode::sync);
  CHECK(column_of(run(config, folder.path.string()), "train/token_entropy") == std::vector(4, 0.0));
  config.trainer.entropy_coef = 0.01;
  for (const double each : column_of(run(config, folder.path.string()), "train/token_entropy"))
    CHECK((each > 0.0 && each < std::log(22.0)));
}

TEST_CASE("grpo: dapo asks another prompt where all are equally good, and long answers cost") {
  const temporary_folder folder;
  auto config = small_run(training_mode::sync);
  config.trainer.zero_variance_groups.reset();
  const auto seen = [&](grpo_variant variant, const char* name) {
    config.trainer.variant = variant;
    const auto all = column_of(run(config, folder.path.string()), name);
    return std::accumulate(all.begin(), all.end(), 0.0);
  };
  CHECK(seen(grpo_variant::dapo, "rollout/zero_variance_groups_replaced") > 0);
  CHECK(seen(grpo_variant::dapo, "rollout/overlong_reward") < 0);
  CHECK(seen(grpo_variant::grpo, "rollout/zero_variance_groups_replaced") == 0);
  CHECK(seen(grpo_variant::grpo, "rollout/overlong_reward") == 0);
}

TEST_CASE("grpo: the filters and the penalty of sampling reach the generator, in training alone") {
  const temporary_folder folder;
  for (const std::string task : {"reversed_text", "blackjack"}) {
    CAPTURE(task);
    std::vector<std::string> ends;
    const auto learned = [&](double top_p, std::int64_t top_k, double min_p, double penalty) {
      auto config = small_run(training_mode::sync, task);
      config.rollout.top_p = top_p;
      config.rollout.top_k = top_k;
      config.rollout.min_p = min_p;
      config.rollout.repetition_penalty = penalty;
      const auto summary = run(config, folder.path.string());
      ends.push_back(summary.weights_sha256);
      return column_of(summary, "rollout/zero_variance_groups");
    };
    learned(1.0, 0, 0.0, 1.0);
    CHECK(learned(1e-9, 0, 0.0, 1.0).front() == 4);  // the likeliest token alone
    CHECK(learned(1.0, 1, 0.0, 1.0).front() == 4);
    CHECK(learned(1.0, 0, 1.0, 1.0).front() == 4);
    learned(1.0, 0, 0.0, 1.5);
    CHECK(ends[1] == ends[2]);
    CHECK(ends[1] == ends[3]);
    CHECK(ends[0] != ends[1]);
    CHECK(ends[0] != ends[4]);
  }
}

TEST_CASE("grpo: evaluations take the likeliest tokens without the penalty of sampling") {
  const temporary_folder folder;
  auto config = small_run(training_mode::sync, "blackjack");
  config.warm_start.batches = 20;
  config.evaluation = {.every_updates = 0, .problems = 2, .final_problems = 40, .stop_at = {}};
  const auto summary = run(config, folder.path.string());
  REQUIRE(summary.eval_mean > -1.1);  // some moves are legal
  const auto last = std::filesystem::path(summary.run_directory) / "last_model";
  config.rollout.repetition_penalty = 0.001;  // what the prompt has would be said again
  CHECK(evaluate_model(config, last, 40).mean == summary.eval_mean);
}

TEST_CASE("grpo: games are counted as episodes, and without one nothing of an environment is") {
  const auto metrics_of = [](const std::string& task) {
    const temporary_folder folder;
    const auto metrics = std::make_shared<metrics_registry>();
    const auto result = train(algorithm_with(small_run(training_mode::sync, task)),
                              {.root = folder.path.string()}, {.metrics = metrics});
    REQUIRE(result.summary);
    return metrics->text();
  };
  const auto played = metrics_of("blackjack");
  const auto count = [&](const std::string& outcome) {
    return series(played, "troupe_episodes_total{env=\"blackjack\",outcome=\"" + outcome + "\"}");
  };
  constexpr double games = 4 * 4 * 4;
  CHECK(count("terminated") + count("truncated") == games);
  CHECK(series(played, "troupe_episode_return_count{env=\"blackjack\"}") == games);
  CHECK(series(played, "troupe_env_steps_total{env=\"blackjack\"}") >= games);

  const auto answered = metrics_of("sum_digits");
  CHECK(series(answered, "troupe_train_steps_total") == 4);
  for (const auto* name : {"troupe_env_steps_total", "troupe_episodes_total",
                           "troupe_episode_return", "troupe_env_failures_total"}) {
    CAPTURE(name);
    CHECK(occurrences(answered, name) == 0);
  }
}

TEST_CASE("grpo: the letters model's warm-up is 20 updates, and at most half of the run") {
  grpo_config config;
  const auto warmup = [&](std::int64_t updates) {
    config.total_steps = updates;
    return completed(config, find_task(config.task.name)).trainer.warmup_updates.value();
  };
  CHECK(warmup(240) == 20);
  CHECK(warmup(8) == 4);
  CHECK(warmup(1) == 0);
  config.trainer.warmup_updates = 3;
  CHECK(warmup(8) == 3);
}

TEST_CASE("grpo: how much the rewards of a group differ stands in progress.csv") {
  const temporary_folder folder;
  auto config = small_run(training_mode::sync, "blackjack");
  config.seed = 2;
  const auto summary = run(config, folder.path.string());
  const auto deviations = column_of(summary, "rollout/reward_std");
  const auto flat = column_of(summary, "rollout/frac_reward_zero_std");
  const auto counts = column_of(summary, "rollout/zero_variance_groups");
  REQUIRE(deviations.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(flat[i] == counts[i] / 4);
    CHECK((deviations[i] == 0) == (flat[i] == 1));
  }
  CHECK(std::ranges::max(deviations) > 0);
}

TEST_CASE("grpo: a variant's preset stands in the configuration that a run keeps") {
  grpo_config config;
  config.rollout.max_completion_tokens = 20;
  const auto of = [&](std::optional<grpo_variant> variant) {
    config.trainer.variant = variant;
    return completed(config, find_task(config.task.name)).trainer;
  };
  CHECK(of({}).zero_variance_groups == zero_variance_rule::keep);
  CHECK(of({}).overlong_cache == 0);
  CHECK(of(grpo_variant::dapo).zero_variance_groups == zero_variance_rule::refill);
  CHECK(of(grpo_variant::dapo).overlong_cache == 4);
  config.trainer.zero_variance_groups = zero_variance_rule::drop;
  config.trainer.overlong_cache = 7;
  CHECK(of(grpo_variant::dapo).zero_variance_groups == zero_variance_rule::drop);
  CHECK(of(grpo_variant::dapo).overlong_cache == 7);
  config.trainer.zero_variance_groups.reset();
  config.trainer.overlong_cache.reset();
  CHECK(of(grpo_variant::reinforce).zero_variance_groups == zero_variance_rule::keep);
  config.task.name = "blackjack";
  CHECK(of(grpo_variant::dapo).zero_variance_groups == zero_variance_rule::refill);
  CHECK(of(grpo_variant::dapo).overlong_cache == 0);
}

TEST_CASE("grpo: a configuration that makes no sense is refused by name") {
  const auto refusal = [](const char* text) {
    return testing::message_of<config_error>(
        [&] { parse_config<grpo_config>(nlohmann::json::parse(text)); });
  };
  CHECK(refusal("{}") == "");
  CHECK(refusal(R"({"rollout": {"group": 1}})") ==
        "/rollout/group: expected at least 2, as advantages are differences within a group but of "
        "trainer.advantage of reward, got 1");
  CHECK(refusal(R"({"rollout": {"group": 1}, "trainer": {"advantage": "reward"}})") == "");
  CHECK_THAT(refusal(R"({"trainer": {"beta": 0.1}})"), Catch::Contains("kl_coef"));
  CHECK(refusal(R"({"trainer": {"overlong_cache": 9}})") ==
        "/trainer/overlong_cache: expected at most rollout.max_completion_tokens, 8, got 9");
  CHECK_THAT(refusal(R"({"rollout": {"top_p": 0}})"),
             Catch::Contains("/rollout/top_p: expected a number > 0"));
  CHECK_THAT(refusal(R"({"rollout": {"top_k": -1}})"), Catch::Contains("/rollout/top_k: expected"));
  CHECK_THAT(refusal(R"({"rollout": {"min_p": 1.5}})"),
             Catch::Contains("/rollout/min_p: expected"));
  CHECK_THAT(refusal(R"({"rollout": {"repetition_penalty": 0}})"),
             Catch::Contains("/rollout/repetition_penalty: expected"));
  CHECK_THAT(refusal(R"({"trainer": {"entropy_coef": -1}})"),
             Catch::Contains("/trainer/entropy_coef: expected"));
  CHECK_THAT(refusal(R"({"trainer": {"reference_mixup": 0}})"),
             Catch::Contains("/trainer/reference_mixup: expected a number > 0"));
  CHECK_THAT(refusal(R"({"trainer": {"lora": {"rank": 4}, "reference_every_updates": 2}})"),
             Catch::Contains("/trainer/reference_every_updates: expected 0 where lora.rank is "
                             "above 0"));
  CHECK_THAT(refusal(R"({"trainer": {"lora": {"targets": ["q", "q"]}}})"),
             Catch::Contains("/trainer/lora/targets: expected each layer once"));
  CHECK_THAT(refusal(R"({"trainer": {"lora": {"targets": ["w"]}}})"),
             Catch::Contains("/trainer/lora/targets/0: unknown value \"w\""));
  CHECK_THAT(refusal(R"({"trainer": {"lora": {"lora_r": 4}}})"), Catch::Contains("rank"));
  CHECK(refusal(R"({"trainer": {"correction_min": 6}})") ==
        "/trainer/correction_min: expected at most correction_max, 5, got 6.0");
  CHECK(refusal(R"({"trainer": {"dual_clip": 1}})") ==
        "/trainer/dual_clip: expected 0 or a number > 1, as the ratio of fresh answers is 1, got "
        "1.0");
  CHECK(refusal(R"({"total_steps": 8, "trainer": {"warmup_updates": 8}})") ==
        "/trainer/warmup_updates: expected fewer than total_steps, 8, as the step size never comes "
        "to lr else, got 8");
  CHECK(refusal(R"({"total_steps": 8, "trainer": {"warmup_updates": 7}})") == "");
  CHECK(refusal(R"({"trainer": {"correction_min": 5, "dual_clip": 1.1}})") == "");
  CHECK(
      refusal(R"({"game": {"urls": ["http://localhost:1"]}, "deterministic": true})") ==
      "/world/urls: expected [] where deterministic is true, as a server's replies come when they "
      "come, got [\"http://localhost:1\"]");
  CHECK(refusal(R"({"code": {"coders": 3, "first_user": 2001, "last_user": 2007}})") == "");
  CHECK(refusal(R"({"code": {"coders": 3, "first_user": 2001, "last_user": 2006}})") ==
        "/code/last_user: expected at least 2007, two after code.first_user for each of "
        "code.coders, got 2006");
  grpo_config config;
  config.rollout.prompts = 6;
  for (const int parts : {4, 12}) {
    config.trainer.minibatches = parts;
    CHECK_THROWS_WITH(algorithm_with(config),
                      "/trainer/minibatches: expected a divisor of rollout.prompts, 6, got " +
                          std::to_string(parts));
  }
  config.trainer.minibatches = 3;
  CHECK_NOTHROW(algorithm_with(config));
  config.task.name = "catch";
  CHECK_THROWS_WITH(algorithm_with(config), Catch::Contains("/world/urls"));
}

}  // namespace
}  // namespace troupe
