#include "actors/torch/torch.hpp"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "actors/llm/model/read_model.hpp"
#include "algorithms/language_models/model/language_model.hpp"
#include "algorithms/language_models/sft/sft_algorithm.hpp"
#include "algorithms/language_models/sft/sft_setup.hpp"
#include "runtime/metrics/registry.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/algorithms/progress_column.hpp"
#include "tests/algorithms/stop_after.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using Catch::Matchers::Contains;
using testing::column_of;

/// A folder with a file of examples: each letter's answer is the next letter.
class stage {
 public:
  stage() {
    std::ofstream to(folder_.path / "letters.jsonl");
    for (char c = 'a'; c < 'q'; ++c) {
      const nlohmann::json line{{"prompt", std::string(1, c)}, {"answer", std::string(1, c + 1)}};
      to << line.dump() << '\n';
    }
  }

  std::filesystem::path path() const { return folder_.path; }
  /// Six updates, three an epoch, of 12 examples; 4 are held out.
  sft_config config() const {
    sft_config made;
    made.model.layers = 2;
    made.model.hidden_size = 64;
    made.model.max_positions = 128;
    made.task.data = (folder_.path / "letters.jsonl").string();
    made.task.held_out = 0.25;
    made.seed = 3;
    made.deterministic = true;
    made.trainer.batch_size = 5;
    made.trainer.epochs = 2;
    made.trainer.lr = 1e-3;
    made.trainer.warmup_updates = 1;
    return made;
  }
  run_summary run(const sft_config& config) const {
    auto result = train(algorithm_with(config), {.root = folder_.path.string()}, {});
    REQUIRE(result.summary);
    return *result.summary;
  }

 private:
  temporary_folder folder_;
};

TEST_CASE("sft run: it leaves its configuration, numbers and models behind") {
  const stage on;
  const auto summary = on.run(on.config());
  CHECK(summary.algo == "sft");
  CHECK(summary.env == "letters");
  CHECK(summary.steps == 6);
  CHECK(summary.eval_episodes == 4);
  CHECK(summary.staleness_max == 0);
  const std::filesystem::path left = summary.run_directory;
  const auto config = nlohmann::json::parse(std::ifstream(left / "config.json"));
  CHECK(config.at("total_steps") == 6);
  CHECK(config.at("evaluation").at("every_updates") == 3);

  const auto& run = summary.run_directory;
  const auto losses = column_of(run, "train/loss");
  REQUIRE(losses.size() == 6);
  CHECK(losses[5] < losses[0]);
  const auto rates = column_of(run, "train/learning_rate");
  REQUIRE(rates.size() == 6);
  CHECK(rates[0] == Approx(1e-3));
  CHECK(rates[1] == Approx(1e-3));
  CHECK(rates[5] == Approx(1e-3 * 1 / 5));  // linear over the five updates after the warm-up
  CHECK(column_of(run, "train/epoch")[2] == Approx(1.0));
  // An answer is a letter and its end.
  CHECK(column_of(run, "train/trained_tokens") == std::vector<double>{10, 10, 4, 10, 10, 4});
  const auto judged = column_of(run, "eval/loss");  // at 0, 3 and 6 updates, and at the end
  REQUIRE(judged.size() == 4);
  CHECK(judged[2] == judged[3]);
  CHECK(judged[3] < judged[0]);
  CHECK(summary.eval_mean == Approx(-judged[3]));
  CHECK(column_of(run, "eval/mean_reward")[3] == Approx(-judged[3]));

  const auto model = language_model_of({.path = (left / "last_model").string()});
  CHECK(model.style.value().source() == llm::chat_style::bytes.source());
  CHECK(llm::read_model(left / "last_model").config.layers == 2);
  const double best = std::ranges::max(column_of(run, "eval/mean_reward"));
  CHECK(score_of(left / "best_model").value() == Approx(best));
}

TEST_CASE("sft run: the model of a run is evaluated as the run has evaluated it") {
  const stage on;
  auto config = on.config();
  for (const std::int64_t rank : {0, 2}) {
    CAPTURE(rank);
    config.trainer.lora.rank = rank;
    const auto summary = on.run(config);
    const auto last = std::filesystem::path(summary.run_directory) / "last_model";
    const auto seen = evaluate_model(config, last, 0);
    CHECK(seen.returns.size() == 4);
    // Adapters are merged into the model, which rounds.
    CHECK(seen.mean == Approx(summary.eval_mean).epsilon(rank == 0 ? 1e-9 : 1e-4));
    CHECK(evaluate_model(config, last, 3).returns.size() == 3);
    CHECK_THROWS_WITH(evaluate_model(config, last, 5), Contains("1 to 4 examples"));
    auto all = config;
    all.task.held_out = 0.0;
    CHECK(evaluate_model(all, last, 0).returns.size() == 16);
  }
}

TEST_CASE("sft run: examples that are held out are not learned") {
  const stage on;
  auto config = on.config();
  config.task.data = (on.path() / "colours.jsonl").string();
  {
    std::ofstream to(config.task.data);  // what can only be learned by heart
    const std::vector<std::string> colours{"red", "green", "blue", "white", "black", "brown"};
    for (int i = 0; i < 12; ++i)
      to << nlohmann::json{{"prompt", "colour of " + std::to_string(i * 7919 % 101)},
                           {"answer", colours[std::size_t(i * i) % 6]}}
                .dump()
         << '\n';
  }
  config.trainer.epochs = 25;
  config.trainer.lr = 4e-3;
  config.evaluation.every_updates = 0;
  const auto summary = on.run(config);
  const auto last = std::filesystem::path(summary.run_directory) / "last_model";
  auto trained = config;
  trained.task.held_out_data = trained.task.data;  // nothing is held out, so all are judged
  trained.task.held_out = 0.0;
  const auto examples = read_sft_setup(trained).held_out;
  const auto scores = evaluate_model(trained, last, 0).returns;
  const auto held_out = read_sft_setup(config).held_out;
  CHECK(held_out.size() == 3);
  REQUIRE(scores.size() == 12);
  std::vector<double> learned, others;
  for (std::size_t i = 0; i < scores.size(); ++i)
    (std::ranges::count(held_out, examples[i]) > 0 ? others : learned).push_back(-scores[i]);
  CHECK(std::ranges::max(learned) < 0.5);
  CHECK(std::ranges::max(others) > 1);
}

TEST_CASE("sft run: a checkpoint of another adapter or other data is refused") {
  const stage on;
  auto config = on.config();
  config.checkpoint.every_updates = 2;
  config.trainer.lora.rank = 2;
  const auto stopped =
      train(algorithm_with(config), {.root = on.path().string()}, testing::stop_after(3));
  metrics_registry metrics;
  auto other = config;
  other.trainer.lora.rank = 3;
  CHECK_THROWS_AS(newest_checkpoint(stopped.run_directory, algorithm_with(other).settings, metrics),
                  checkpoint_mismatch);
  std::ofstream(config.task.data, std::ios::app) << R"({"prompt": "y", "answer": "z"})" << '\n';
  const auto what = algorithm_with(config);
  auto from = newest_checkpoint(stopped.run_directory, what.settings, metrics);
  REQUIRE(from);
  CHECK_THROWS_WITH(train(what, {.directory = stopped.run_directory}, {}, std::move(from)),
                    Contains("expected a cursor over"));
}

TEST_CASE("sft run: a run on threads, with faults, and one that is stopped") {
  const stage on;
  auto config = on.config();
  config.deterministic = false;
  CHECK(on.run(config).steps == 6);
  const auto stopped =
      train(algorithm_with(config), {.root = on.path().string()}, testing::stop_after(2));
  CHECK(!stopped.summary);
  CHECK(stopped.steps == 2);
  CHECK(std::filesystem::exists(std::filesystem::path(stopped.run_directory) / "last_model"));

  config.deterministic = true;
  config.faults = "crash=0.02,drop=0.02";
  CHECK(on.run(config).steps == 6);
}

task<loops::verdict> choose(loops::progress now, run_control& control) {
  if (now.updates == 2) control.set_learning_rate(5e-4);
  co_return loops::verdict::go_on;
}

TEST_CASE("sft run: a callback chooses the step size, and a goal ends the run") {
  const stage on;
  auto config = on.config();
  run_options options;
  options.callbacks.on_update = choose;
  const auto chosen = train(algorithm_with(config), {.root = on.path().string()}, options);
  const auto rates = column_of(chosen.run_directory, "train/learning_rate");
  CHECK(rates[1] == Approx(1e-3));
  CHECK(rates[2] == 5e-4);
  CHECK(rates[5] == 5e-4);

  config.evaluation.stop_at = -100.0;
  const auto summary = on.run(config);
  CHECK(summary.steps == 0);
  CHECK(summary.stop_reason == "evaluation.stop_at");
}

task<> note(std::vector<std::size_t>* seen, std::size_t examples) {
  seen->push_back(examples);
  co_return;
}

TEST_CASE("sft run: an evaluation during training takes as many examples as are asked for") {
  const stage on;
  auto config = on.config();
  config.evaluation.examples = 3;
  std::vector<std::size_t> seen;
  run_options options;
  options.callbacks.on_evaluation = [&](loops::progress, evaluation made) {
    return note(&seen, made.returns.size());
  };
  const auto result = train(algorithm_with(config), {.root = on.path().string()}, options);
  CHECK(seen == std::vector<std::size_t>{3, 3, 3});
  CHECK(result.summary.value().eval_episodes == 4);
}

TEST_CASE("sft run: options without effect are told") {
  const stage on;
  auto config = on.config();
  config.total_steps = 4;
  config.trainer.schedule = lr_decay::constant;
  config.trainer.final_share = 0.1;
  config.trainer.lora.alpha = 3;
  config.evaluation.every_updates = 0;
  config.evaluation.examples = 2;
  std::vector<std::string> names;
  for (const auto& one : algorithm_with(config).settings.idle) names.push_back(one.name);
  CHECK(names == std::vector<std::string>{"evaluation.examples", "trainer.epochs",
                                          "trainer.final_share", "trainer.lora.alpha"});
  config.trainer.lora.rank = 2;
  CHECK(algorithm_with(config).settings.idle.size() == 3);
}

}  // namespace
}  // namespace troupe
