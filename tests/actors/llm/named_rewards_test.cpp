#include "actors/llm/tasks/named_rewards.hpp"

#include "tests/test.hpp"

namespace troupe::llm {
namespace {

double reward(const std::string& name, const std::string& answer, const std::string& expected = "",
              const std::string& columns = "") {
  return named_reward(name).value({{.expected = expected, .columns = columns}, answer});
}

TEST_CASE("named rewards: what the answer is compared with") {
  CHECK(reward("exact", " 42 ", "42") == 1);
  CHECK(reward("exact", "42.", "42") == 0);
  CHECK(reward("exact", "<think>41?</think> 42", "42") == 1);
  CHECK(reward("exact", "so <answer>42</answer>.", "42") == 1);
  CHECK(reward("numeric", "It is 1,042.0 in all", "#### 1042") == 1);
  CHECK(reward("numeric", "It is 7", "#### 1042") == 0);
  CHECK(reward("contains", "Well, PARIS it is", "Paris") == 1);
  CHECK(reward("contains", "Rome", "Paris") == 0);
  CHECK(reward("contains:words", "a Cat and a dog", "", R"({"words": ["cat", "bird"]})") == 0.5);
  CHECK_THROWS_WITH(reward("contains:words", "x", "", "{}"), Catch::Contains("\"words\""));
}

TEST_CASE("named rewards: answers are read as people write them") {
  // The table of docs/guides/reward.md.
  CHECK(reward("numeric", "It is \u22125.", "-5") == 1);
  CHECK(reward("numeric", "1\u202f234", "1,234") == 1);
  CHECK(reward("numeric", "1.234", "1234") == 0);
  CHECK(reward("numeric", "2 \\cdot 3 = \\boxed{6}, as 3 < 7", "6") == 1);
  CHECK(reward("numeric", "\\boxed{\\frac{3}{4}}", "0.75") == 1);
  CHECK(reward("numeric", "#### 72\nThat was 1 step.", "48 + 24 = 72\n#### 72") == 1);
  CHECK(reward("numeric", "50%", "0.5") == 1);
  CHECK(reward("exact", "so \\boxed{x+1}", "x+1") == 1);
  CHECK(reward("exact", "#### yes", "yes") == 1);
  CHECK(reward("contains", "It is 15", "5") == 0);
  CHECK(reward("contains", "\u00c9COLE", "\u00e9cole") == 1);
}

TEST_CASE("named rewards: what is not understood in an answer is noted") {
  CHECK(note_of("numeric", "no idea") == "numeric: no number found");
  CHECK(note_of("numeric", "\\boxed{x} or 7") == "numeric: no number in the marked answer");
  CHECK(note_of("numeric", "7").empty());
  CHECK(note_of("format:json", "{a") == "format:json: no JSON");
  CHECK(note_of("exact", "").empty());
}

TEST_CASE("named rewards: the form of the answer") {
  CHECK(reward("length:3", "abc") == 1);
  CHECK(reward("length:3", "abcd") == 0);
  CHECK(reward("format:think", "<think>hm</think> 3") == 1);
  CHECK(reward("format:think", "<think>hm</think> ") == 0);
  CHECK(reward("format:think", "3 <think>hm</think>") == 0);
  CHECK(reward("format:think", "<think>a</think><think>b</think>c") == 0);
  CHECK(reward("format:json", R"({"a": 1})") == 1);
  CHECK(reward("format:json", "{a") == 0);
  CHECK(reward("format:think,answer", "<think>a</think> <answer>b</answer>") == 1);
  CHECK(reward("format:think,answer", "<answer>b</answer>") == 0);
  CHECK(reward("pattern:[0-9]+", "123") == 1);
  CHECK(reward("pattern:[0-9]+", "12a") == 0);
}

TEST_CASE("named rewards: unknown names and arguments are refused") {
  for (const auto* name : {"", "exactly", "length", "length:", "length:0", "length:x",
                           "format:", "format:a,", "exact:", "pattern:"})
    CHECK_THROWS_AS(named_reward(name), std::invalid_argument);
  CHECK_THROWS_WITH(named_reward("pattern:("), Catch::Contains("("));
  CHECK(named_reward("numeric", 0.5).weight == 0.5);
  CHECK(needs_answer("exact"));
  CHECK_FALSE(needs_answer("contains:words"));
  CHECK(runs_code("tests"));
}

}  // namespace
}  // namespace troupe::llm
