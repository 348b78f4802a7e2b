// Runs on datasets, on text worlds, and on both at once.

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "actors/reward/text_reward.hpp"
#include "algorithms/language_models/grpo/grpo_algorithm.hpp"
#include "algorithms/language_models/grpo/grpo_evaluation.hpp"
#include "algorithms/language_models/grpo/grpo_task.hpp"
#include "algorithms/language_models/grpo/prompt_format.hpp"
#include "algorithms/language_models/sft/sft_setup.hpp"
#include "runtime/metrics/registry.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/algorithms/language_models/grpo/run_and_samples.hpp"
#include "tests/algorithms/stop_after.hpp"
#include "tests/message_of.hpp"
#include "tests/paths.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using Catch::Matchers::Contains;
using nlohmann::json;
using testing::run, testing::samples_of;

/// Sums of two digits, a line each; `level` is the number of tens of their sum.
void write_sums(const std::filesystem::path& path, int first = 0, int count = 100) {
  std::ofstream file(path);
  for (int i = first; i < first + count; ++i) {
    const int a = i / 10 % 10, b = i % 10;
    file << json{{"question", std::to_string(a) + "+" + std::to_string(b) + "="},
                 {"sum", a + b},
                 {"level", (a + b) / 10}}
                .dump()
         << '\n';
  }
}

/// Two updates, each of four groups of four answers, of a tiny model of bytes.
grpo_config small_run(const std::filesystem::path& data) {
  grpo_config config;
  config.task = {.data = data.string(), .prompt = "question", .answer = "sum"};
  config.task.problems.held_out = 10;
  config.model.layers = 1;
  config.model.hidden_size = 32;
  config.model.max_positions = 64;
  config.total_steps = 2;
  config.rollout.prompts = config.rollout.group = 4;
  config.rollout.max_completion_tokens = 3;
  config.checkpoint.every_updates = 1;
  config.evaluation = {.every_updates = 1, .problems = 4, .final_problems = 5, .stop_at = {}};
  return config;
}

/// The error of the check of a run.
std::string refusal(const grpo_config& config) {
  return testing::message_of([&] { algorithm_with(config).check(); });
}

TEST_CASE("grpo on data: a run asks the lines of a file and keeps those that are held out") {
  const temporary_folder folder;
  write_sums(folder.path / "sums.jsonl");
  auto config = small_run(folder.path / "sums.jsonl");
  config.task.reward = {"exact", "length:2"};
  config.task.reward_weights = {1, 0.5};
  const auto result = run(config, (folder.path / "runs").string());
  REQUIRE(result.summary);
  const auto samples = samples_of(result.run_directory);
  CHECK(samples.size() == 2 * 4);
  const auto part = parts_of(config).front();
  std::set<std::string> held_out;
  for (const auto& each : problems_of(part.task, part.config).held_out)
    held_out.insert(each.question);
  CHECK(held_out.size() == 10);
  for (const auto& sample : samples) {
    CHECK_FALSE(held_out.contains(sample["question"]));
    for (const auto* which : {"best", "worst"}) {
      const std::string text = sample[which]["text"];
      CHECK(sample[which]["reward"] ==
            exact_match(text, sample["expected"].get<std::string>()) + 0.5 * (text.size() <= 2));
    }
  }
  const auto progress = read_text(std::filesystem::path(result.run_directory) / "progress.csv");
  CHECK_THAT(progress, Contains("rewards/exact/mean"));
  CHECK_THAT(progress, Contains("rewards/length:2/mean"));
  const auto model = std::filesystem::path(result.run_directory) / "last_model";
  CHECK(evaluate_model(config, model, 5).mean == result.summary->eval_mean);
}

TEST_CASE("grpo on data: a resumed run asks the lines that an uninterrupted one asks") {
  const temporary_folder folder;
  write_sums(folder.path / "sums.jsonl");
  auto config = small_run(folder.path / "sums.jsonl");
  config.deterministic = true;
  config.total_steps = 4;
  const auto whole = run(config, (folder.path / "whole").string());
  const auto what = algorithm_with(config);
  const auto first =
      train(what, {.root = (folder.path / "parts").string()}, testing::stop_after(2));
  metrics_registry metrics;
  auto from = newest_checkpoint(first.run_directory, what.settings, metrics);
  REQUIRE(from);
  const auto second = train(what, {.directory = first.run_directory}, {}, std::move(from));
  CHECK(samples_of(second.run_directory) == samples_of(whole.run_directory));
}

TEST_CASE("grpo on data: all that is wrong with a file is told before training") {
  const temporary_folder folder;
  const auto path = folder.path / "sums.jsonl";
  write_sums(path);
  std::ofstream(path, std::ios::app)
      << R"({"question": "1+1="})" << "\n"
      << json{{"question", std::string(62, '1')}, {"sum", 1}}.dump() << "\n";
  auto config = small_run(path);
  CHECK_THAT(refusal(config), Contains("/task/data: ") && Contains("sums.jsonl:101: ") &&
                                  Contains("the field \"sum\""));
  config.task.reward = {"length:3"};  // needs no answer
  CHECK_THAT(refusal(config),
             Contains("sums.jsonl:102: question: expected a prompt of at most 61"));
  config.task.prompt = "ask";
  CHECK_THAT(refusal(config), Contains("sums.jsonl:1: ") && Contains("the field \"ask\""));
  config = small_run(folder.path / "none.jsonl");
  CHECK_THAT(refusal(config), Contains("/task/data: ") && Contains("none.jsonl"));
}

TEST_CASE("grpo on data: options that don't fit are refused by name") {
  const temporary_folder folder;
  write_sums(folder.path / "sums.jsonl");
  auto config = small_run(folder.path / "sums.jsonl");
  config.task.curriculum = curriculum_section{};
  CHECK_THAT(refusal(config), Contains("/task/curriculum") && Contains("task.level"));
  config = small_run(folder.path / "sums.jsonl");
  config.task.problems.held_out = 100;
  CHECK_THAT(refusal(config), Contains("/task/problems/held_out"));
  config = small_run(folder.path / "sums.jsonl");
  config.task.level = "level";
  config.task.curriculum = curriculum_section{};
  config.task.problems.held_out = 99;  // leaves a problem of one level
  CHECK_THAT(refusal(config), Contains("training problems of every level"));
  config = small_run(folder.path / "sums.jsonl");
  config.tasks = {config.task};
  CHECK_THAT(refusal(config), Contains("/task: expected no data and no world beside tasks"));
  json document{{"tasks", {{{"data", "x.jsonl"}, {"reward", "exact"}}}}};
  grpo_algorithm().complete(document);
  CHECK(document["tasks"][0]["reward"] == json{"exact"});
  config = small_run(folder.path / "sums.jsonl");
  config.task.reward = {"tests"};
  config.allow_unsandboxed_code = true;
  config.model.path = "a chat model";
  CHECK_FALSE(refusal(config).empty());
}

TEST_CASE("grpo on data: a file of its own is held out") {
  const temporary_folder folder;
  write_sums(folder.path / "sums.jsonl", 0, 60);
  write_sums(folder.path / "test.jsonl", 60, 40);
  auto config = small_run(folder.path / "sums.jsonl");
  config.task.held_out_data = (folder.path / "test.jsonl").string();
  config.task.problems = {};
  const auto part = parts_of(config).front();
  const auto made = problems_of(part.task, part.config);
  CHECK(made.training.size() == 60);
  CHECK(made.held_out.size() == 40);
  CHECK(made.held_out.front().question == "6+0=");
}

/// What fine-tuning trains on and holds out, as texts, and what GRPO does, of the same file.
struct both_divisions {
  std::set<std::string> sft_training, sft_held_out;
  std::vector<std::string> held_out;  ///< GRPO's, in its order
};

both_divisions divisions_of(const std::filesystem::path& path, std::uint64_t seed,
                            std::optional<double> share, std::optional<std::int64_t> count) {
  sft_config tuned;
  tuned.task = {.data = path.string(), .held_out = share};
  tuned.model.max_positions = 512;
  tuned.seed = seed;
  const auto setup = read_sft_setup(tuned);
  both_divisions made;
  const auto text_of = [&](const sft_example& one) {
    return setup.model.tokens.decode(one.prompt);
  };
  for (const auto& one : setup.training) made.sft_training.insert(text_of(one));
  for (const auto& one : setup.held_out) made.sft_held_out.insert(text_of(one));
  auto config = small_run(path);
  config.task = {.data = path.string()};
  config.task.problems.held_out = count;
  config.model.max_positions = 512;
  config.seed = seed;
  const auto part = parts_of(config).front();
  auto format_config = config;
  format_config.model.tokens = small_model::bytes;
  const auto format = prompt_format_of(format_config);
  for (const auto& each : problems_of(part.task, part.config).held_out)
    made.held_out.push_back(format.tokens.decode(format.prompt_of(each)));
  return made;
}

TEST_CASE("grpo on data: what is held out of a file was not trained on by fine-tuning on it") {
  const temporary_folder folder;
  const auto path = folder.path / "numbers.jsonl";
  std::ofstream file(path);
  for (int i = 0; i < 60; ++i) {
    const auto number = std::to_string(i / 2);
    const json user{{"role", "user"}, {"content", "Which is it?"}};
    const json rule{{"role", "system"}, {"content", "The number is " + number}};
    // Texts, and conversations that end alike; each prompt occurs twice.
    json row{{"prompt", "Say " + number}, {"answer", number}};
    if (i / 2 % 3 == 0) row["prompt"] = {rule, user};
    if (i / 2 % 3 == 1)
      row = {{"prompt", {rule, user}},
             {"completion", {{{"role", "assistant"}, {"content", number}}}}};
    file << row.dump() << '\n';
  }
  file.close();
  for (const std::uint64_t seed : {1, 2, 3}) {
    const auto usual = divisions_of(path, seed, {}, {});
    CHECK(usual.held_out.size() == 3);
    CHECK(usual.sft_held_out == std::set(usual.held_out.begin(), usual.held_out.end()));
    CHECK(usual.sft_training.size() == 27);
    const auto more = divisions_of(path, seed, 0.5, 4);
    CHECK(more.sft_held_out.size() == 15);
    for (const auto& each : more.held_out) {
      CHECK(more.sft_held_out.contains(each));
      CHECK_FALSE(more.sft_training.contains(each));
    }
    CHECK(std::equal(usual.held_out.begin(), usual.held_out.end(), more.held_out.begin()));
  }
}

TEST_CASE("grpo on data: a file of one to three prompts is trained on, and judged by them") {
  for (const int prompts : {1, 2, 3}) {
    const temporary_folder folder;
    write_sums(folder.path / "sums.jsonl", 0, prompts);
    auto config = small_run(folder.path / "sums.jsonl");
    config.task.problems = {};
    config.evaluation = {.every_updates = 1, .problems = {}, .final_problems = {}, .stop_at = {}};
    const auto part = parts_of(config).front();
    CHECK(detail::judges_training(part.task, part.config));
    const auto made = problems_of(part.task, part.config);
    CHECK(std::ssize(made.training) == prompts);
    CHECK(std::ssize(made.held_out) == prompts);
    const auto result = run(config, (folder.path / "runs").string());
    REQUIRE(result.summary);
    CHECK(result.summary->eval_episodes == prompts);
    const auto model = std::filesystem::path(result.run_directory) / "last_model";
    CHECK(evaluate_model(config, model, std::size_t(prompts)).mean == result.summary->eval_mean);
    config.evaluation.problems = prompts + 1;
    CHECK_THAT(refusal(config), Contains("/evaluation/problems: expected at most " +
                                         std::to_string(prompts) + ", the prompts of the file"));
  }
}

TEST_CASE("grpo on data: one held-out problem can't be divided between both evaluations") {
  const temporary_folder folder;
  write_sums(folder.path / "sums.jsonl");
  auto config = small_run(folder.path / "sums.jsonl");
  config.task.problems.held_out = 1;
  config.evaluation = {.every_updates = 1, .problems = {}, .final_problems = {}, .stop_at = {}};
  CHECK_THAT(refusal(config),
             Contains("/task/problems/held_out: expected 2 held-out problems or more"));
  config.evaluation.every_updates = 0;
  CHECK(refusal(config).empty());
}

TEST_CASE("grpo on data: a warm start on the file shows no held-out problem") {
  const temporary_folder folder;
  const auto path = folder.path / "numbers.jsonl";
  std::ofstream file(path);
  for (int i = 0; i < 20; ++i)
    file << json{{"prompt", std::to_string(i)}, {"answer", std::to_string(i)}}.dump() << '\n';
  file.close();
  auto config = small_run(path);
  config.task = {.data = path.string()};
  config.model.tokens = small_model::bytes;
  config.warm_start = {.batches = 1, .data = path.string()};
  const auto part = parts_of(config).front();
  const auto made = problems_of(part.task, part.config);
  const auto format = prompt_format_of(config);
  const auto held_out = detail::kept_from_training(part.task, part.config, made);
  REQUIRE(held_out.size() == 2);
  const auto shown = warm_start_examples(config, format, held_out);
  CHECK(shown.size() == 18);
  for (const auto& one : shown)
    for (const auto& each : held_out) CHECK(one.prompt != format.prompt_of(each));
}

TEST_CASE("grpo on data: rows with tools are written by the chat template, or all are refused") {
  const temporary_folder folder;
  const auto path = folder.path / "tools.jsonl";
  std::ofstream file(path);
  for (int i = 0; i < 8; ++i)
    file << R"({"prompt": "Is it warm in city )" << i << R"(?", "answer": "No.", "tools": )"
         << R"([{"type": "function", "function": {"name": "weather"}}]})" << '\n';
  file.close();
  auto config = small_run(path);
  config.task = {.data = path.string()};
  config.task.problems.held_out = 4;
  config.evaluation.problems = 2;
  config.evaluation.final_problems = 2;
  config.model.max_positions = 512;
  const auto told = refusal(config);
  if (told.empty()) {  // the template of the model of bytes writes tools
    const auto part = parts_of(config).front();
    config.model.tokens = small_model::bytes;
    const auto format = prompt_format_of(config);
    for (const auto& each : problems_of(part.task, part.config).training)
      CHECK_THAT(format.tokens.decode(format.prompt_of(each)), Contains("weather"));
  } else {
    for (int line = 1; line <= 8; ++line)
      CHECK_THAT(told, Contains("tools.jsonl:" + std::to_string(line) + ": ") && Contains("tools"));
  }
}

TEST_CASE("grpo on data: a curriculum climbs the three levels of a file") {
  const temporary_folder folder;
  const std::vector<std::string> levels{"easy", "medium", "hard"};
  std::ofstream lines(folder.path / "levels.jsonl");
  for (int i = 0; i < 60; ++i)
    lines << json{{"question", std::to_string(i)}, {"sum", i}, {"level", levels[i / 20]}}.dump()
          << '\n';
  lines.close();
  auto config = small_run(folder.path / "levels.jsonl");
  config.total_steps = 4;
  config.task.level = "level";
  config.task.levels = levels;
  // Every answer is right enough, so each update of 16 answers climbs one level.
  config.task.reward = {"length:9"};
  config.task.curriculum = curriculum_section{.promote_at = 0.9, .window = 8, .min_episodes = 8};
  const auto result = run(config, (folder.path / "runs").string());
  const auto samples = samples_of(result.run_directory);
  REQUIRE(samples.size() == 16);
  for (std::size_t i = 0; i < 16; ++i) {
    const int level = std::stoi(samples[i]["question"].get<std::string>()) / 20;
    CHECK(level == std::min(int(i / 4), 2));
  }
  const auto progress = read_text(std::filesystem::path(result.run_directory) / "progress.csv");
  CHECK_THAT(progress, Contains("tasks/levels/level") && Contains("tasks/levels/success_rate"));
}

/// A world of one or two turns that wants the letter "a".
class wants_an_a final : public text_environment {
 public:
  task<text_step> reset(const text_reset& with) override {
    co_return text_step{.shown = {"say a, " + std::to_string(with.seed % 10)}};
  }
  task<text_step> step(std::string reply) override {
    if (reply.empty()) co_return text_step{.refused = "expected a letter"};
    co_return text_step{.shown = {"again"}, .reward = reply[0] == 'a' ? 1.0 : -1.0, .ended = true};
  }
};

text_environment_spec a_world() {
  return {.name = "wants_an_a",
          .what = "a world that wants an a",
          .make = [] { return std::make_unique<wants_an_a>(); },
          .turns = 3};
}

TEST_CASE("grpo on worlds: a program's own text world is trained on and evaluated") {
  const temporary_folder folder;
  auto config = small_run("");
  config.task = {};
  config.world.replicas = 8;
  config.world.outcomes = {.win = 2.0, .loss = -0.5};
  const auto what = algorithm_with(config, a_world());
  what.check();
  const auto result = train(what, {.root = folder.path.string()}, {});
  REQUIRE(result.summary);
  const auto samples = samples_of(result.run_directory);
  CHECK(samples.size() == 8);
  for (const auto& sample : samples) {
    CHECK_THAT(sample["question"].get<std::string>(), Catch::StartsWith("say a, "));
    for (const auto* which : {"best", "worst"})
      CHECK((sample[which]["reward"] == 2.0 || sample[which]["reward"] == -0.5 ||
             sample[which]["reward"] == 0.0));
  }
}

TEST_CASE("grpo on worlds: a text world in Python is trained on, with the lines of a file") {
  ::setenv("PYTHONPATH", testing::source_path("tests/actors/python/functions").c_str(), 1);
  const temporary_folder folder;
  std::ofstream lines(folder.path / "letters.jsonl");
  for (const char letter : std::string("bcdefghijk"))
    lines << json{{"prompt", "x"}, {"letter", std::string(1, letter)}}.dump() << '\n';
  lines.close();
  auto config = small_run("");
  config.task = {.data = (folder.path / "letters.jsonl").string(),
                 .world = "text_worlds:SaysA",
                 .world_options = {R"({"turns": 2})"},
                 .problems = {.held_out = 4}};
  config.python.interpreter = "/usr/bin/python3";
  config.world.replicas = 2;
  config.evaluation = {.every_updates = 0, .problems = 1, .final_problems = 2, .stop_at = {}};
  const auto result = run(config, (folder.path / "runs").string());
  REQUIRE(result.summary);
  const auto samples = samples_of(result.run_directory);
  REQUIRE(samples.size() == 8);
  for (const auto& sample : samples) {
    const auto question = sample["question"].get<std::string>();
    CHECK_THAT(question, Catch::StartsWith("say "));
    CHECK(question[4] != 'a');  // of the file
  }
  config.deterministic = true;
  CHECK_THAT(refusal(config), Contains("/deterministic") && Contains("it runs in Python"));
  config.deterministic = false;
  config.task.world = "text_worlds:SaysB";
  CHECK_THAT(refusal(config), Contains("did you mean"));
}

TEST_CASE("grpo on several tasks: each is drawn by its share, judged and measured apart") {
  const temporary_folder folder;
  write_sums(folder.path / "sums.jsonl");
  write_sums(folder.path / "more.jsonl");
  register_text_environment(a_world());
  auto config = small_run("");
  config.task = {};
  config.rollout.prompts = 8;
  grpo_task_section sums{.data = (folder.path / "sums.jsonl").string(),
                         .prompt = "question",
                         .answer = "sum",
                         .share = 2,
                         .problems = {.held_out = 20}};
  auto more = sums;
  more.data = (folder.path / "more.jsonl").string();
  more.reward = {"length:2"};
  more.share = 1;
  config.tasks = {sums, more, {.world = "wants_an_a"}};
  const auto result = run(config, (folder.path / "runs").string());
  REQUIRE(result.summary);
  const auto samples = samples_of(result.run_directory);
  REQUIRE(samples.size() == 16);
  std::map<std::string, int> count;
  for (const auto& sample : samples) ++count[sample["task"]];
  CHECK(count == std::map<std::string, int>{{"sums", 8}, {"more", 4}, {"wants_an_a", 4}});
  const auto progress = read_text(std::filesystem::path(result.run_directory) / "progress.csv");
  for (const auto* column :
       {"tasks/sums/reward_mean", "tasks/more/right_mean", "tasks/wants_an_a/prompts",
        "rewards/sums/exact/mean", "rewards/more/length:2/mean", "eval/sums/mean_reward",
        "eval/wants_an_a/win_rate"})
    CHECK_THAT(progress, Contains(column));
  const auto model = std::filesystem::path(result.run_directory) / "last_model";
  CHECK(evaluate_model(config, model, 5).mean == result.summary->eval_mean);
  config.tasks[1] = sums;
  CHECK_THROWS_WITH(algorithm_with(config),
                    Contains("/tasks/1/name: expected a name that no other"));
}

}  // namespace
}  // namespace troupe
