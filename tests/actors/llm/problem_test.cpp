#include "actors/llm/tasks/problem.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>

#include "actors/coder/coder.hpp"
#include "actors/llm/tasks/letters_model.hpp"
#include "tests/test.hpp"

namespace troupe::llm {
namespace {

double judged(const problem_task& task, const problem& asked, const std::string& answer) {
  const auto result = weighted_reward<answered_problem>(task.rewards).evaluate({asked, answer});
  return result.total;
}

TEST_CASE("problems: by the seed alone, none twice, none of them held out and trained on") {
  for (const auto& task : problem_tasks()) {
    CAPTURE(task.name);
    const auto set = make_problems(task, {.size = 3, .training = 100, .held_out = 30}, 7);
    const auto again = make_problems(task, {.size = 3, .training = 100, .held_out = 30}, 7);
    const auto other = make_problems(task, {.size = 3, .training = 100, .held_out = 30}, 8);
    CHECK(set.training.size() == 100);
    CHECK(set.held_out.size() == 30);
    std::set<std::string> seen;
    for (const auto* list : {&set.training, &set.held_out}) {
      for (const auto& one : *list) CHECK(seen.insert(one.letters).second);
    }
    bool same = true, different = false;
    for (std::size_t i = 0; i < 100; ++i) {
      same = same && set.training[i].letters == again.training[i].letters;
      different = different || set.training[i].letters != other.training[i].letters;
    }
    CHECK(same);
    CHECK(different);
  }
}

TEST_CASE("problems: each task has as many as it says itself") {
  for (const auto& task : problem_tasks()) {
    CAPTURE(task.name);
    const auto set = make_problems(task, task.counts, 1);
    CHECK(std::ssize(set.training) == task.counts.training);
    CHECK(std::ssize(set.held_out) == task.counts.held_out);
  }
}

TEST_CASE("problems: the answers of arithmetic are right") {
  action_random random(1);
  for (int i = 0; i < 60; ++i) {
    const auto one = arithmetic_task().draw(random, 3);
    const auto at = one.letters.find_first_of("+-*");
    REQUIRE(at != std::string::npos);
    const auto a = std::stoll(one.letters.substr(0, at));
    const auto b = std::stoll(one.letters.substr(at + 1));
    const char sign = one.letters[at];
    CHECK(std::stoll(one.expected) == (sign == '+' ? a + b : sign == '-' ? a - b : a * b));
  }
}

TEST_CASE("problems: the sums of digits have as many as their page says") {
  const auto counts = sum_digits_task().counts;
  CHECK(counts.size == 4);
  CHECK(counts.training == 7'500);
  CHECK(counts.held_out == 1'500);
}

TEST_CASE("problems: the right answer has the full reward, and the letters model can say it") {
  const auto tokens = letters_tokenizer();
  CHECK(tokens.size() == letters_model().vocab_size);
  CHECK(letters_model().hidden_size == 128);
  for (const auto& task : problem_tasks()) {
    if (task.is_code) continue;
    CAPTURE(task.name);
    const auto set = make_problems(task, {.size = 4, .training = 50, .held_out = 1}, 1);
    for (const auto& one : set.training) {
      CAPTURE(one.letters);
      CHECK(judged(task, one, one.expected) == 1.0);
      CHECK(judged(task, one, one.expected + "0") < 1.0);
      CHECK(judged(task, one, "") == 0.0);
      CHECK(tokens.decode(tokens.encode(one.letters)) == one.letters);
      CHECK(tokens.decode(tokens.encode(one.expected)) == one.expected);
    }
  }
}

TEST_CASE("problems: what is asked, worked by hand") {
  action_random random(1);
  for (int i = 0; i < 20; ++i) {
    const auto sum = sum_digits_task().draw(random, 3);
    int expected = 0;
    for (const char c : sum.letters) expected += c == '>' ? 0 : c - '0';
    CHECK(sum.expected == std::to_string(expected));
    CHECK(sum.question.find(sum.letters.substr(0, sum.letters.size() - 1)) != std::string::npos);
  }
  const problem reversed{"", "abca>", "acba"};
  CHECK(judged(reversed_text_task(), reversed, "acbb") == Approx(0.5 * 0.75));
  CHECK(judged(reversed_text_task(), reversed, "acbaacba") == Approx(0.5 * 0.5));
  const problem minus{"", "7-9=", "-2"};
  CHECK(judged(arithmetic_task(), minus, " -2 ") == 1.0);
  CHECK(judged(arithmetic_task(), minus, "2") == 0.0);
}

double share_passed(const problem& asked, const std::string& answer) {
  coder runner({.allow_unsandboxed = true, .limits = {.wall_s = 60}});
  return passed_share(runner.run(call_function(code_in(answer), asked.function)), asked.function);
}

TEST_CASE("problems: of code, the answer that is given as right passes its tests") {
  const auto set = make_problems(code_task(), {.size = 2, .training = 60, .held_out = 1}, 3);
  std::set<std::string> names;
  for (const auto& one : set.training) {
    if (!names.insert(one.function.name).second) continue;
    CAPTURE(one.question, one.expected);
    CHECK(share_passed(one, one.expected) == 1.0);
    CHECK(share_passed(one, "```python\n" + one.expected + "\n```") == 1.0);
    CHECK(share_passed(one, fmt::format("def {}(x): return x", one.function.name)) < 1.0);
    CHECK(one.question.find(one.function.name + "(") != std::string::npos);
  }
  CHECK(names.size() >= 12);
}

TEST_CASE("problems: of code, the reward is the share of tests passed") {
  const auto task = code_task();
  const auto judged = [&](double passed) {
    return weighted_reward<answered_problem>(task.rewards).evaluate({{}, "", passed});
  };
  CHECK(judged(1.0).total == 1.0);
  CHECK(judged(1.0).values.front() == 1.0);
  CHECK(judged(0.5).total == 0.5);
  CHECK(judged(0.5).values.front() == 0.0);
}

TEST_CASE("problems: counts that can't be had are refused, by the option to blame") {
  const auto refused = [](problem_counts counts) {
    try {
      make_problems(sum_digits_task(), counts, 1);
    } catch (const problem_counts_error& e) {
      CHECK(e.what() == e.option + ": " + e.expectation);
      return std::string(e.what());
    }
    return std::string("taken");
  };
  CHECK(refused({.size = 1, .training = 10, .held_out = 1}) ==
        "training: expected with held_out (1) no more than sum_digits has different problems of "
        "size 1, about 9, got 10");
  CHECK(refused({.size = 10}) == "size: expected 1 to 9, got 10");
  CHECK(refused({.training = 0}) == "training: expected at least 1, got 0");
  CHECK(refused({.held_out = -1}) == "held_out: expected at least 1, got -1");
  CHECK(refused({}) == "taken");
  CHECK_THROWS_WITH(make_problems({.name = "mine"}, {}, 1),
                    "task mine: draw: expected a function that makes a problem, got none");
}

TEST_CASE("problems: a task that says the same again and again is given up after so many draws") {
  std::int64_t draws = 0;
  const problem_task same{.name = "same", .draw = [&](action_random&, int) {
                            if (++draws > 100'000) throw std::logic_error("it is never given up");
                            return problem{.question = "again?"};
                          }};
  CHECK_THROWS_WITH(make_problems(same, {.training = 100, .held_out = 1}, 1),
                    Catch::Contains("no more than same has different problems of size"));
  CHECK(draws == 1000 + 20 * 101);
}

TEST_CASE("problems: of a list of questions in words, each is asked once") {
  const std::vector<std::string> words{"one", "two", "three", "four"};
  const problem_task spell{.name = "spell", .draw = [&](action_random& random, int) {
                             return problem{.question = words[random.below(words.size())]};
                           }};
  const auto set = make_problems(spell, {.training = 3, .held_out = 1}, 1);
  std::set<std::string> asked{set.held_out.front().question};
  for (const auto& one : set.training) asked.insert(one.question);
  CHECK(asked == std::set<std::string>(words.begin(), words.end()));
  CHECK_THROWS_WITH(make_problems(spell, {.training = 4, .held_out = 1}, 1),
                    Catch::Contains("about 4, got 4"));
}

}  // namespace
}  // namespace troupe::llm
