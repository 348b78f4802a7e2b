#include "actors/torch/torch.hpp"

#include "algorithms/language_models/grpo/grpo_task.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>

#include "actors/reward/text_reward.hpp"
#include "algorithms/language_models/grpo/grpo_evaluation.hpp"
#include "runtime/base/log.hpp"
#include "runtime/metrics/registry.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/algorithms/language_models/grpo/weight_bytes.hpp"
#include "tests/algorithms/stop_after.hpp"
#include "tests/captured_stream.hpp"
#include "tests/message_of.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

/// The next letter of a to e. Half of the reward is for any letter.
llm::problem_task next_letter() {
  return {
      .name = "next_letter",
      .draw =
          [](action_random& random, int size) {
            std::string asked;
            for (int i = 0; i < size; ++i) asked += "abcde"[random.below(5)];
            const char next = static_cast<char>(asked.back() + 1);
            return llm::problem{.question = "Which letter comes after " + asked + "?",
                                .letters = asked + ">",
                                .expected = {next}};
          },
      .rewards = {
          {"right",
           [](const llm::answered_problem& a) { return exact_match(a.answer, a.asked.expected); },
           0.5},
          {"letter", [](const llm::answered_problem& a) { return double(a.answer.size() == 1); },
           0.5}}};
}

grpo_config small_run() {
  grpo_config config;
  config.task.problems = {.size = 2, .training = 14, .held_out = 10};
  config.total_steps = 4;
  config.deterministic = true;
  config.warm_start = {.batches = 3, .batch_size = 8, .lr = 1e-3};
  config.rollout.prompts = config.rollout.group = 4;
  config.rollout.max_completion_tokens = 3;
  config.checkpoint.every_updates = 2;
  config.evaluation = {.every_updates = 2, .problems = 4, .final_problems = 6, .stop_at = {}};
  return config;
}

TEST_CASE("grpo: a task of one's own names the run, and the program evaluates its model") {
  const temporary_folder folder;
  const auto config = small_run();
  const auto what = algorithm_with(config, next_letter());
  const auto result = train(what, {.root = folder.path.string()}, {});
  REQUIRE(result.summary);
  CHECK(result.summary->env == "next_letter");
  const std::filesystem::path run = result.run_directory;
  CHECK(run.filename() == "next_letter_1");
  std::ifstream written(run / "config.json");
  const auto document = nlohmann::json::parse(written);
  CHECK(document.at("task").at("name") == "next_letter");
  CHECK(document.at("task").at("problems").at("training") == 14);
  // What the task's kind decides is kept, too: a resumed run goes on by it.
  CHECK(document.at("trainer").at("lr") == 1e-4);
  CHECK(document.at("warm_start").at("keep_moments") == true);
  CHECK(evaluate_model(config, next_letter(), run / "last_model", 6).mean ==
        result.summary->eval_mean);

  // Whoever reads that configuration without the task is told so.
  const auto read = parse_config<grpo_config>(document);
  CHECK_THROWS_WITH(algorithm_with(read),
                    Catch::Contains("/task/name: unknown task \"next_letter\"") &&
                        Catch::Contains("known: \"sum_digits\"") &&
                        Catch::Contains("A task of a program's own is trained, resumed and "
                                        "evaluated by that program"));
  CHECK_THROWS_AS(evaluate_model(read, run / "last_model", 6), config_error);
}

/// What a run of six updates warns of, in which the answers to a prompt get these rewards in turn.
std::string warned_with(const std::vector<double>& rewards) {
  const temporary_folder folder;
  auto config = small_run();
  config.total_steps = 6;
  config.warm_start = {.batches = 0};
  config.evaluation.every_updates = 0;
  config.checkpoint.every_updates = 20;  // A rest would begin the count anew.
  auto task = next_letter();
  // Groups are judged at once, so that one count of all answers could deal equal rewards to a
  // group.
  struct counts {
    std::mutex mutex;
    std::map<std::string, std::size_t> judged;
  };
  const auto by_prompt = std::make_shared<counts>();
  task.rewards = {{"fixed", [rewards, by_prompt](const llm::answered_problem& answered) {
                     const std::scoped_lock lock(by_prompt->mutex);
                     return rewards[by_prompt->judged[answered.asked.question]++ % rewards.size()];
                   }}};
  log::set_level("warn");
  const testing::captured_stderr captured;
  const auto result = train(algorithm_with(config, task), {.root = folder.path.string()}, {});
  auto text = captured.text();
  log::set_level("info");
  CHECK(result.summary);
  return text;
}

TEST_CASE("grpo: first updates in which no reward differs are told once, unless all is right") {
  const std::string warning =
      "all answers to a prompt have had the same reward in the first updates";
  const auto text = warned_with({0});
  CHECK_THAT(text, Catch::Contains(warning) && Catch::Contains("updates=5") &&
                       Catch::Contains("reward=0"));
  CHECK(text.find(warning) == text.rfind(warning));
  CHECK_THAT(warned_with({1}), !Catch::Contains(warning));
  CHECK_THAT(warned_with({0, 1}), !Catch::Contains(warning));
}

TEST_CASE(
    "grpo: a run of one's own task is resumed with the task, and ends with the same weights") {
  const temporary_folder folder;
  const auto what = algorithm_with(small_run(), next_letter());
  const auto whole = train(what, {.root = folder.path.string()}, {});
  const auto stopped = train(what, {.root = folder.path.string()}, testing::stop_after(2));
  REQUIRE(!stopped.summary);
  metrics_registry metrics;
  auto from = newest_checkpoint(stopped.run_directory, what.settings, metrics);
  REQUIRE(from);
  const auto resumed = train(what, {.directory = stopped.run_directory}, {}, std::move(from));
  REQUIRE(resumed.summary);
  CHECK(resumed.summary->weights_sha256 == whole.summary->weights_sha256);
}

TEST_CASE("grpo: a reward that throws at held-out problems counts as not right, and ends no run") {
  const temporary_folder folder;
  auto task = next_letter();
  task.rewards[0].value = [](const llm::answered_problem& a) -> double {
    if (a.asked.letters.starts_with("a")) throw std::out_of_range("no such letter");
    return 1.0;
  };
  auto config = small_run();
  config.task.problems = {.size = 2, .training = 12, .held_out = 12};
  config.evaluation.problems = 2;
  config.evaluation.final_problems = 10;
  const auto asked =
      detail::held_out_problems_of(task, config, problems_of(task, config).held_out).at_the_end;
  const auto with_a =
      std::ranges::count_if(asked, [](const auto& p) { return p.letters.starts_with("a"); });
  REQUIRE((0 < with_a && with_a < 10));
  log::set_level("off");
  const auto result = train(algorithm_with(config, task), {.root = folder.path.string()}, {});
  log::set_level("info");
  REQUIRE(result.summary);
  CHECK(result.summary->eval_mean == Approx(1.0 - double(with_a) / 10));
}

TEST_CASE("grpo: the start is the best model where no later one is better") {
  const temporary_folder folder;
  // What is asked for the first time is right, and nothing after that.
  const auto asked = std::make_shared<std::map<std::string, int>>();
  auto task = next_letter();
  task.rewards = {{"new", [asked](const llm::answered_problem& a) {
                     return (*asked)[a.asked.letters]++ == 0 ? 1.0 : 0.0;
                   }}};
  const auto run = [&](const grpo_config& config) -> std::filesystem::path {
    asked->clear();
    return train(algorithm_with(config, task), {.root = folder.path.string()}, {}).run_directory;
  };
  auto config = small_run();
  const auto whole = run(config);
  config.evaluation.stop_at = 0.5;
  const auto ended_at_the_start = run(config);
  const auto best = testing::weight_bytes(whole / "best_model");
  CHECK(best == testing::weight_bytes(ended_at_the_start / "last_model"));
  CHECK(best != testing::weight_bytes(whole / "last_model"));
}

/// What is wrong with such a run.
std::string refusal(const grpo_config& config, const grpo_task& task) {
  return testing::message_of([&] { algorithm_with(config, task).check(); });
}

TEST_CASE("grpo: a task of one's own that can't be learned is refused by name") {
  CHECK(refusal(small_run(), next_letter()) == "");
  auto task = next_letter();
  task.name = "sum_digits";
  CHECK_THAT(refusal(small_run(), task), Catch::StartsWith("/task/name: expected a name that no"));
  task.name = "";
  CHECK_THAT(refusal(small_run(), task), Catch::StartsWith("/task/name: expected a name"));

  task = next_letter();
  task.draw = nullptr;
  CHECK_THAT(refusal(small_run(), task), Catch::Contains("draw: expected a function"));
  task = next_letter();
  task.rewards.clear();
  CHECK_THAT(refusal(small_run(), task), Catch::Contains("reward"));

  auto config = small_run();
  config.task.problems.training = 20;
  CHECK(refusal(config, next_letter()) ==
        "/task/problems/training: expected with held_out (10) no more than next_letter has "
        "different problems of size 2, about 25, got 20");
  config = small_run();
  config.evaluation.final_problems = 7;
  CHECK(refusal(config, next_letter()) ==
        "/evaluation/final_problems: expected at most 6, the 10 of task.problems.held_out less the "
        "4 of evaluation.problems, got 7");
  config.evaluation.problems = 10;
  CHECK_THAT(refusal(config, next_letter()),
             Catch::StartsWith("/evaluation/problems: expected at most 9, fewer than"));
}

/// The task with another problem, the same each time but for its number.
llm::problem_task asking(llm::problem (*make)(const std::string& number)) {
  auto task = next_letter();
  task.draw = [make](action_random& random, int) {
    return make(std::to_string(random.below(1000)));
  };
  return task;
}

TEST_CASE("grpo: problems that the model can't read, or without a right answer, are refused") {
  CHECK_THAT(refusal(small_run(), asking([](const std::string& n) {
                       return llm::problem{.question = n, .letters = n + "?", .expected = "1"};
                     })),
             Catch::Contains("task next_letter: expected letters of the letters model alone") &&
                 Catch::Contains("?\""));
  CHECK_THAT(refusal(small_run(), asking([](const std::string& n) {
                       return llm::problem{.question = n, .letters = "", .expected = "1"};
                     })),
             Catch::Contains("letters: expected a text"));
  CHECK_THAT(refusal(small_run(), asking([](const std::string& n) {
                       return llm::problem{
                           .question = n, .letters = n + std::string(64, '1'), .expected = "1"};
                     })),
             Catch::Contains("fewer than 64 letters"));
  const auto without_answers = asking([](const std::string& n) {
    return llm::problem{.question = n, .letters = n, .expected = ""};
  });
  CHECK_THAT(refusal(small_run(), without_answers), Catch::Contains("warm_start.batches"));
  auto config = small_run();
  config.warm_start.batches = 0;
  CHECK(refusal(config, without_answers) == "");
}

TEST_CASE("grpo: tasks by name; of games deals have no end, and somebody must deal them") {
  CHECK(runs_code(part_of({}, find_task("code"))));
  CHECK(!find_task("sum_digits").game());
  REQUIRE(find_task("blackjack").game());
  CHECK_THROWS_WITH(find_task("sum_digit"), Catch::Contains("did you mean \"sum_digits\"?"));

  grpo_config config;
  config.evaluation.problems =
      static_cast<int>(counts_of(find_task("sum_digits"), config).held_out) + 1;
  CHECK_THROWS_AS(algorithm_with(config), config_error);
  config.task.name = "blackjack";
  CHECK_NOTHROW(algorithm_with(config).check());

  auto mine = *find_task("blackjack").game();
  mine.name = "my_blackjack";
  CHECK(refusal(config, mine) == "");
  mine.environment = "";
  CHECK_THAT(refusal(config, mine), Catch::StartsWith("/world/urls: expected servers"));
}

}  // namespace
}  // namespace troupe
