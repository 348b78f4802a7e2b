#include "actors/python/python_reward.hpp"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "runtime/base/log.hpp"
#include "runtime/coroutine/combine.hpp"
#include "runtime/metrics/registry.hpp"
#include "runtime/system/system.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/paths.hpp"
#include "tests/runtime/metrics/text.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using Catch::Matchers::Contains;

python_reward_options of_functions(std::vector<std::string> functions) {
  ::setenv("PYTHONPATH", testing::source_path("tests/actors/python/functions").c_str(), 1);
  return {.functions = std::move(functions),
          .timeout = 20,
          .python = {.interpreter = "/usr/bin/python3", .start_timeout = 60}};
}

/// Completions c0, c1, ... of the prompts p0, p1, ..., each with its number as a column.
batch<judged_completion> numbered(int count) {
  batch<judged_completion> made;
  for (int i = 0; i < count; ++i) {
    const auto number = std::to_string(i);
    made.push_back({"p" + number, "c" + number, R"({"number": )" + number + "}"});
  }
  return made;
}

batch<judged_completion> completions(const std::vector<std::string>& texts,
                                     const std::string& columns = "{}") {
  batch<judged_completion> made;
  for (const auto& text : texts) made.push_back({"p", text, columns});
  return made;
}

TEST_CASE("python_reward: a function gets prompts, completions and columns of the same items") {
  python_reward judge(of_functions({"rewards:echo"}));
  const auto results = judge.evaluate(numbered(300));
  REQUIRE(results.size() == 300);
  for (int i = 0; i < 300; ++i) {
    CHECK(results[i].total == i);
    CHECK(results[i].values == std::vector<double>{double(i)});
  }
}

TEST_CASE("python_reward: several functions are weighted, and one may not apply") {
  auto options =
      of_functions({"rewards:right", "rewards:even", "rewards:length", "rewards:slow_minds"});
  options.weights = {10, 1, 0.125, 2};
  metrics_registry metrics;
  python_reward judge(options, &metrics);
  const auto results = judge.evaluate(completions({"12", "123"}, R"({"answer": "123"})"));
  CHECK(results[0].total == 0 + 1 + 0.25 + 1);
  CHECK(results[1].total == 10 + 0.375 + 1);
  CHECK(results[0].values == std::vector<double>{0, 1, 2, 0.5});
  CHECK(std::isnan(results[1].values[1]));
  const auto text = metrics.text();
  CHECK(series(text, R"(troupe_reward_value_count{reward="rewards:even"})") == 1);
  CHECK(series(text, R"(troupe_reward_value_sum{reward="rewards:length"})") == 5);
  CHECK(series(text, "troupe_reward_count") == 2);
}

TEST_CASE("python_reward: a column that an item lacks is None, and texts need not be UTF-8") {
  python_reward judge(of_functions({"rewards:missing", "rewards:characters"}));
  batch<judged_completion> two;
  two.push_back({"p", "a", R"({"level": 2})"});
  two.push_back({"p", "\xff", "{}"});
  const auto results = judge.evaluate(std::move(two));
  CHECK(results[0].values == std::vector<double>{2, 97});
  CHECK(results[1].values == std::vector<double>{-1, 0xfffd});
}

TEST_CASE("python_reward: a wrong value, or none at all, costs its own completion alone") {
  python_reward judge(of_functions({"rewards:by_word"}));
  auto results = judge.evaluate(completions({"fine", "nan", "text", "list", "fine"}));
  CHECK(results[0].total == 1);
  CHECK_THROWS_WITH(results[1], "reward \"rewards:by_word\": expected a finite number, got nan");
  CHECK_THROWS_WITH(results[2], Contains("expected a number or None, got '1.0' of type str"));
  CHECK_THROWS_WITH(results[3], Contains("expected a number or None, got [1.0] of type list"));
  CHECK(results[4].total == 1);

  python_reward picky(of_functions({"rewards:even"}));
  results = picky.evaluate(completions({"12", "123"}));
  CHECK(results[0].total == 1);
  CHECK_THROWS_WITH(results[1], Contains("rewards:even") && Contains("got None alone"));

  python_reward large(of_functions({"rewards:enormous"}));
  results = large.evaluate(completions({"a"}));
  CHECK_THROWS_WITH(
      results[0],
      "reward \"rewards:enormous\": expected a number from -1e+30 to 1e+30, got 1e+308");

  batch<judged_completion> broken = completions({"12"});
  broken.push_back({"p", "34", "[1]"});
  results = picky.evaluate(std::move(broken));
  CHECK(results[0].total == 1);
  CHECK_THROWS_WITH(results[1], "columns: expected a JSON object, got \"[1]\"");
}

TEST_CASE("python_reward: a function's fault is told with its name, and it goes on") {
  const auto [name, expected] = GENERATE(table<const char*, const char*>(
      {{"throws", "KeyError: 'no such answer'"},
       {"leaves", "it called sys.exit(3)"},
       {"too_few", "expected 2 numbers, one for each completion, got 1"},
       {"no_list", "expected a list of 2 numbers, got float"},
       {"needs_level",
        "it takes 'level', but there are prompts, completions, completion_ids, "
        "trainer_state and the columns: answer"},
       {"of_no_state", "trainer_state has global_step, max_steps, epoch, but no 'log_history'"}}));
  CAPTURE(name);
  metrics_registry metrics;
  const auto function = "rewards:" + std::string(name);
  python_reward judge(of_functions({"rewards:right", function}), &metrics);
  for (int i = 0; i < 2; ++i) {
    auto results = judge.evaluate(completions({"1", "2"}, R"({"answer": "1"})"));
    for (int k = 0; k < 2; ++k)
      CHECK_THROWS_WITH(results[k],
                        Contains("reward \"" + function + "\": ") && Contains(expected));
  }
  CHECK(series(metrics.text(), "troupe_reward_failures_total{reward=\"" + function + "\"}") == 4);
}

/// Judges `count` completions, of which every tenth has a fault of a function in a text of its own.
/// Requires that the others are judged. Returns the calls of the function, and the completions that
/// these have begun to judge.
std::pair<double, double> judge_with_faults(const std::string& word, int count, double timeout) {
  auto options = of_functions({"rewards:counted"});
  options.timeout = timeout;
  options.functions.push_back("rewards:calls_so_far");
  options.functions.push_back("rewards:judged_so_far");
  python_reward judge(options);
  std::vector<std::string> texts;
  for (int i = 0; i < count; ++i)
    texts.push_back((i % 10 == 5 ? word : "fine") + std::to_string(i));
  auto results = judge.evaluate(completions(texts));
  for (int i = 0; i < count; ++i) {
    CAPTURE(i);
    if (i % 10 == 5) {
      CHECK_THROWS(results[i]);
    } else {
      CHECK(results[i].values.front() == 1);
    }
  }
  return {results[0].values[1], results[0].values[2]};
}

TEST_CASE("python_reward: of 500 answers every tenth raises, and the others are judged") {
  const auto [calls, judged] = judge_with_faults("throw", 500, 20);
  CHECK(calls < 520);
  CHECK(judged <= 2 * 500);
}

TEST_CASE("python_reward: of the answers every tenth hangs, and each hang is waited for once") {
  const auto [calls, judged] = judge_with_faults("hang", 50, 0.1);
  CHECK(calls == 1 + 50);
  CHECK(judged == 6 + 50);
}

TEST_CASE("python_reward: one answer of many that raises is found by halving") {
  python_reward judge(of_functions({"rewards:counted", "rewards:calls_so_far"}));
  std::vector<std::string> texts(256, "fine");
  texts[200] = "throw";
  auto results = judge.evaluate(completions(texts));
  CHECK_THROWS_WITH(results[200], Contains("ValueError: no judgement of throw"));
  for (int i = 0; i < 256; ++i)
    if (i != 200) CHECK(results[i].values[0] == 1);
  CHECK(results[0].values[1] < 32);
}

TEST_CASE("python_reward: an answer that hung is not tried again, and one that raised is") {
  auto options = of_functions({"rewards:counted", "rewards:calls_so_far"});
  options.timeout = 0.1;
  python_reward judge(options);
  auto first = judge.evaluate(completions({"hang", "hang", "fine"}));
  CHECK_THROWS_WITH(first[0],
                    Contains("it took longer than 0.1 s (python.reward_timeout) for an answer"));
  CHECK_THROWS_WITH(first[1], Contains("the same answer was late before"));
  CHECK(first[2].values == std::vector<double>{1, 3});
  auto second = judge.evaluate(completions({"hang", "fine"}));
  CHECK_THROWS_WITH(second[0], Contains("the same answer was late before"));
  CHECK(second[1].values == std::vector<double>{1, 4});
  CHECK_THROWS(judge.evaluate(completions({"throw"}))[0]);
  CHECK_THROWS_WITH(judge.evaluate(completions({"throw"}))[0], Contains("no judgement of throw"));
}

TEST_CASE("python_reward: conversations are lists of messages, as TRL gives them") {
  python_reward judge(of_functions(
      {"rewards:of_messages", "rewards:of_ids", "rewards:of_state", "rewards:column_names"}));
  batch<judged_completion> two;
  two.push_back({.prompt = "p",
                 .completion = "abc",
                 .columns = R"({"prompt": [], "completion": 1, "answer": 2})",
                 .conversation = R"([{"role": "system", "content": "s"},
                                     {"role": "user", "content": "four"}])",
                 .completion_ids = {5, 6},
                 .global_step = 7,
                 .max_steps = 9,
                 .epoch = 2.0});
  two.push_back({.prompt = "p", .completion = "ab", .completion_ids = {1}, .global_step = 6});
  const auto results = judge.evaluate(std::move(two));
  CHECK(results[0].values == std::vector<double>{304, 11, 20907, 1});
  CHECK(results[1].values == std::vector<double>{201, 1, 20907, 1});
}

TEST_CASE("python_reward: a completion without a state of its training is of step 0") {
  python_reward judge(of_functions({"rewards:of_state"}));
  batch<judged_completion> one;
  one.push_back({.prompt = "p", .completion = "a", .epoch = 2.0});
  CHECK(judge.evaluate(std::move(one))[0].values == std::vector<double>{20000});
}

TEST_CASE("python_reward: a parameter that nothing is given for is refused at the start") {
  auto options = of_functions({"rewards:needs_level"});
  options.columns = {{"answer", "prompt"}};
  CHECK_THROWS_WITH(python_reward(options),
                    Contains("rewards:needs_level: it takes 'level', but there are prompts, "
                             "completions, completion_ids, trainer_state and the columns: answer"));
  options.columns = {{"answer", "level"}};
  python_reward judge(options);
  // The column is there, though no item of this batch has it.
  CHECK(judge.evaluate(completions({"a"}))[0].total == 1);
  options.functions = {"rewards:by_position"};
  CHECK_THROWS_WITH(python_reward(options),
                    Contains("it takes the positional parameter 'prompts'"));
}

TEST_CASE("python_reward: what can't be made is told at once") {
  const auto refuse = [](const python_reward_options& options, const char* expected) {
    CHECK_THROWS_WITH(python_reward(options), Contains(expected));
  };
  refuse(of_functions({"misses_a_package:score"}), "pip install 'a_package_that_is_missing'");
  refuse(of_functions({"no_such_module:score"}), "No module named 'no_such_module'");
  refuse(of_functions({"rewards:nothing"}), "rewards:nothing: module rewards has no 'nothing'");
  refuse(of_functions({"rewards:number"}), "rewards:number: expected a function, got 3");
  refuse(of_functions({}), "expected 1 to 32 functions, got 0");
  refuse(of_functions({"rewards:right", "rewards:right"}), "expected each name once");
  auto options = of_functions({"rewards:right"});
  options.weights = {1, 2};
  refuse(options, "expected a weight for each of the 1 functions, got 2");
  options.weights = {std::nan("")};
  refuse(options, "expected a finite weight, got nan");
  options = of_functions({"hangs_in_import:score"});
  options.python.start_timeout = 0.5;
  refuse(options,
         "the import of hangs_in_import:score took longer than 0.5 s (python.start_timeout)");
}

TEST_CASE("python_reward: the name of a function in a configuration") {
  CHECK(python_function_of("python:my_rewards:score") == "my_rewards:score");
  CHECK(python_function_of("python:a.b:c") == "a.b:c");
  for (const auto* text : {"", "python", "my_rewards:score", "python:score", "python:a:b:c",
                           "python:gymnasium:score", "python:pettingzoo:score", "python:a-b:c"}) {
    CAPTURE(text);
    CHECK_THROWS_WITH(python_function_of(text), Contains("expected python:MODULE:FUNCTION"));
  }
}

task<service<python_reward>> serve_reward(system& sys, python_reward_options options) {
  serve_options serving{.name = "reward",
                        .placement = placement::thread,
                        .idempotent = {endpoint<&python_reward::evaluate>}};
  co_return co_await sys.serve<python_reward>(std::move(serving), std::move(options),
                                              &sys.metrics());
}

task<double> judge_one(service<python_reward> rewards, std::string text) {
  judged_completion asked{"p", std::move(text), "{}"};
  const auto result = co_await rewards.route<&python_reward::evaluate>(std::move(asked));
  co_return result.total;
}

task<outcome<reward_result>> try_to_judge(service<python_reward> rewards, std::string text) {
  judged_completion asked{"p", std::move(text), "{}"};
  co_return co_await rewards.try_route<&python_reward::evaluate>(std::move(asked));
}

task<> gather_calls(system& sys) {
  const auto rewards = co_await serve_reward(sys, of_functions({"rewards:sized"}));
  std::vector<task<double>> calls;
  for (int i = 0; i < 100; ++i) calls.push_back(judge_one(rewards, "c"));
  const auto sizes = co_await all(std::move(calls));
  // The first batch holds what has come by then, and the second all that came during it.
  double batches = 0;
  for (const double size : sizes) batches += 1 / size;
  CHECK(std::lround(batches) <= 3);
}

TEST_CASE("python_reward: concurrent calls are judged as batches") {
  system sys({.threads = 1});
  sys.run(gather_calls(sys));
}

TEST_CASE("python_reward: a crash and a hang cost their own answer, and a process is replaced") {
  const auto [function, word, expected] = GENERATE(table<std::string, std::string, std::string>(
      {{"by_word", "die", "ended with exit code 7"},
       {"by_word", "hang", "it took longer than 0.5 s (python.reward_timeout) for an answer"},
       {"stubborn", "hang", "took longer than 0.5 s"}}));
  CAPTURE(function, word);
  auto options = of_functions({"rewards:" + function});
  options.timeout = 0.5;
  python_reward judge(options);
  auto results = judge.evaluate(completions({"fine", word, "fine"}));
  CHECK(results[0].total == 1);
  CHECK_THROWS_WITH(results[1], Contains("rewards:" + function) && Contains(expected));
  CHECK(results[2].total == 1);
  CHECK(judge.evaluate(completions({"fine"}))[0].total == 1);
}

/// Counts the calls of functions that end each with a byte in a file, over all processes.
class calls_in_a_file {
 public:
  calls_in_a_file() { ::setenv("TROUPE_TEST_CALLS", path_.c_str(), 1); }
  /// The calls since this was asked last.
  int next() {
    const auto all = static_cast<int>(std::filesystem::file_size(path_));
    return all - std::exchange(told_, all);
  }

 private:
  temporary_folder folder_;
  std::string path_ = (folder_.path / "calls").string();
  int told_ = 0;
};

/// Completions with a word and a number of their own each.
batch<judged_completion> each_with(const std::string& word, int count) {
  std::vector<std::string> texts;
  for (int i = 0; i < count; ++i) texts.push_back(word + std::to_string(i));
  return completions(texts);
}

bool is_broken(batch<reward_result>& results, std::size_t which) {
  try {
    results[which];
  } catch (const reward_broken&) {
    return true;
  } catch (const std::exception&) {
  }
  return false;
}

TEST_CASE("python_reward: a function that never judges is tried sixteen times, then once a batch") {
  const auto [function, why] = GENERATE(table<std::string, std::string>(
      {{"always_dies", "ended with exit code 7"}, {"always_hangs", "longer than 0.1 s"}}));
  CAPTURE(function);
  calls_in_a_file calls;
  auto options = of_functions({"rewards:" + function});
  options.timeout = function == "always_hangs" ? 0.1 : 20;
  python_reward judge(options);
  auto results = judge.evaluate(each_with("a", 100));
  CHECK(calls.next() == 1 + python_reward::broken_at_first);
  CHECK(!is_broken(results, 15));
  for (std::size_t i = 16; i < 100; ++i) CHECK(is_broken(results, i));
  CHECK_THROWS_WITH(results[99],
                    Contains("reward \"rewards:" + function +
                             "\": it was late or ended its process for each of the last 16 "
                             "answers; the last time: ") &&
                        Contains(why));
  results = judge.evaluate(each_with("b", 50));
  CHECK(calls.next() == 1);
  for (std::size_t i = 0; i < 50; ++i) CHECK(is_broken(results, i));
}

TEST_CASE(
    "python_reward: a function that has judged is broken later, and judges when it can again") {
  calls_in_a_file calls;
  auto options = of_functions({"rewards:told_in_a_file"});
  options.timeout = 0.1;
  python_reward judge(options);
  CHECK(judge.evaluate(each_with("fine", 2))[1].total == 1);
  CHECK(calls.next() == 1);
  auto results = judge.evaluate(each_with("hang", 80));
  CHECK(calls.next() == 1 + python_reward::broken_later);
  CHECK(!is_broken(results, 63));
  CHECK(is_broken(results, 64));
  results = judge.evaluate(completions({"hang-a", "fine"}));
  CHECK(calls.next() == 1);
  CHECK(is_broken(results, 1));
  results = judge.evaluate(each_with("fine", 9));
  for (std::size_t i = 0; i < 9; ++i) CHECK(results[i].total == 1);
  results = judge.evaluate(completions({"hang-b", "fine"}));
  CHECK(!is_broken(results, 0));
  CHECK(results[1].total == 1);
}

TEST_CASE("python_reward: the batch after one with many faults begins with one at a time") {
  const std::string word = GENERATE("hang", "die");
  CAPTURE(word);
  calls_in_a_file calls;
  auto options = of_functions({"rewards:told_in_a_file"});
  options.timeout = word == "hang" ? 0.1 : 20;
  python_reward judge(options);
  for (int round = 0; round < 2; ++round) {
    std::vector<std::string> texts;
    for (int i = 0; i < 20; ++i)
      texts.push_back((i % 4 == 3 ? word : "fine") + std::to_string(100 * round + i));
    auto results = judge.evaluate(completions(texts));
    for (std::size_t i = 0; i < 20; ++i) {
      if (i % 4 == 3) {
        CHECK_THROWS(results[i]);
      } else {
        CHECK(results[i].total == 1);
      }
    }
    CHECK(calls.next() == (round == 0 ? 1 + 20 : 20));
  }
}

task<> judge_what_kills(system& sys, std::string word) {
  auto options = of_functions({"rewards:by_word"});
  options.timeout = 0.5;
  const auto rewards = co_await serve_reward(sys, std::move(options));
  const double before = co_await judge_one(rewards, "fine");
  CHECK(before == 1);
  judged_completion asked{"p", word, "{}"};
  const auto killed = co_await rewards.try_route<&python_reward::evaluate>(std::move(asked));
  CHECK(is_kind(killed.error(), error_kind::role_error));
  const double after = co_await judge_one(rewards, "fine");
  CHECK(after == 1);
  // The replica has served all the time.
  CHECK_THAT(sys.metrics().text(), Contains("troupe_replica_restarts_total{service=\"reward\"} 0"));
}

/// Every tenth of 500 answers raises, and ten of these hang.
task<> judge_five_hundred(system& sys) {
  auto options = of_functions({"rewards:by_word"});
  options.timeout = 0.25;
  const auto rewards = co_await serve_reward(sys, std::move(options));
  std::vector<task<outcome<reward_result>>> calls;
  for (int i = 0; i < 500; ++i) {
    const std::string word = i % 10 != 5 ? "fine" : i % 50 == 5 ? "hang" : "throw";
    calls.push_back(try_to_judge(rewards, word + std::to_string(i)));
  }
  const auto results = co_await all(std::move(calls));
  int judged = 0, refused = 0;
  for (std::size_t i = 0; i < results.size(); ++i) {
    CAPTURE(i);
    CHECK(bool(results[i]) == (i % 10 != 5));
    if (results[i]) {
      ++judged;
      CHECK(results[i].value().total == 1);
    } else {
      ++refused;
      CHECK(is_kind(results[i].error(), error_kind::role_error));
    }
  }
  CHECK(judged == 450);
  CHECK(refused == 50);
  CHECK_THAT(sys.metrics().text(), Contains("troupe_replica_restarts_total{service=\"reward\"} 0"));
}

TEST_CASE(
    "python_reward: of 500 answers a tenth hangs or raises, and 450 are judged by one replica") {
  log::set_level("off");
  system sys({.threads = 1});
  sys.run(judge_five_hundred(sys));
  log::set_level("info");
}

TEST_CASE("python_reward: a crash or a hang does not restart the replica") {
  const std::string word = GENERATE("die", "hang");
  CAPTURE(word);
  log::set_level("off");
  system sys({.threads = 1});
  sys.run(judge_what_kills(sys, word));
  log::set_level("info");
}

task<> serve_what_is_missing(system& sys, std::string& said) {
  try {
    co_await serve_reward(sys, of_functions({"misses_a_package:score"}));
  } catch (const std::exception& error) {
    said = error.what();
  }
}

TEST_CASE("python_reward: a service whose functions can't be imported ends with the reason") {
  log::set_level("off");
  std::string said;
  system sys({.threads = 1});
  sys.run(serve_what_is_missing(sys, said));
  log::set_level("info");
  CHECK_THAT(said, Contains("No module named 'a_package_that_is_missing'"));
}

}  // namespace
}  // namespace troupe
