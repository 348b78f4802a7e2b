#include "actors/reward/text_reward.hpp"

#include "tests/test.hpp"

using namespace troupe;

TEST_CASE("text_reward: an exact match leaves white space at the ends aside, nothing else") {
  CHECK(exact_match(" 42\n", "42") == 1);
  CHECK(exact_match("4 2", "42") == 0);
  CHECK(exact_match("Paris", "paris") == 0);
  CHECK(exact_match("", " ") == 1);
  CHECK(exact_match("42.", "42") == 0);
}

TEST_CASE("text_reward: the last number of a text is found as people write it") {
  const auto [text, number] =
      GENERATE(table<std::string, double>({{"42", 42},
                                           {"so 3 and 4 make 7.", 7},
                                           {"it is -0.5", -0.5},
                                           {"x=-.5", -0.5},
                                           {"7-3", 3},
                                           {"e5", 5},
                                           {"1,234,567.8 dollars", 1234567.8},
                                           {"(1, 2)", 2},
                                           {"1,23", 23},
                                           {"1234,567", 567},
                                           {"$1e-3", 1e-3},
                                           {"2e3", 2e3},
                                           {"2E+3", 2e3},
                                           {"2e", 2},
                                           {"#### 18", 18},
                                           {"5 or 1e999", 5},
                                           {"007", 7}}));
  INFO(text);
  REQUIRE(last_number(text));
  CHECK(*last_number(text) == number);
}

TEST_CASE("text_reward: a text without digits has no number") {
  for (const std::string text : {"", "none", "-", ".", "nan", "inf"})
    CHECK_FALSE(last_number(text));
}

TEST_CASE("text_reward: a numeric answer is right up to its tolerance") {
  CHECK(numeric_match("The answer is 42.0", "42") == 1);
  CHECK(numeric_match("The answer is 43", "42") == 0);
  CHECK(numeric_match("no idea", "42") == 0);
  CHECK(numeric_match("1000000.5", "1,000,000") == 1);
  CHECK(numeric_match("1000002", "1,000,000") == 0);
  CHECK(numeric_match("0.3333", "0.33333333", 1e-3) == 1);
  CHECK(numeric_match("-42", "42") == 0);
  CHECK_THROWS_WITH(numeric_match("42", "forty-two"),
                    "numeric match: expected a text with a number in it, got \"forty-two\"");
}

TEST_CASE("text_reward: the inside of a tag is there once or not at all") {
  CHECK(inside_tag("<a>42</a>", "a") == "42");
  CHECK(inside_tag("x<a></a>y", "a") == "");
  for (const std::string text : {"", "<a>", "</a>", "</a>42<a>", "<a>1</a><a>2</a>", "<a><a>1</a>",
                                 "<a>1</a></a>", "<b>1</b>"}) {
    CHECK_FALSE(inside_tag(text, "a"));
  }
}

TEST_CASE("text_reward: the answer comes after the last thought") {
  CHECK(after_thoughts("<think>one\n</think>\n\n3") == "3");
  CHECK(after_thoughts("one</think> two</think>4 ") == "4 ");
  CHECK(after_thoughts(" 3 ") == " 3 ");
  CHECK(after_thoughts("<think>no end") == "<think>no end");
  CHECK(after_thoughts("<think>x</think>\n") == "");
}

TEST_CASE("text_reward: a format holds its tags once, in order, and nothing between them") {
  const std::vector<std::string> tags{"think", "answer"};
  CHECK(tag_format("<think>hm</think> \n<answer>4</answer>\n", tags) == 1);
  CHECK(tag_format("<think></think><answer></answer>", tags) == 1);
  for (const std::string text :
       {"", "4", "<answer>4</answer>", "<answer>4</answer><think>hm</think>",
        "<think>hm</think> so <answer>4</answer>", "<think>hm<answer>4</answer></think>",
        "<think>hm</think><answer>4</answer>.", "<think>hm</think><answer>4",
        "<think>a</think><think>b</think><answer>4</answer>"}) {
    INFO(text);
    CHECK(tag_format(text, tags) == 0);
  }
}

TEST_CASE("text_reward: a pattern matches the whole text") {
  const pattern_match digit("[0-9]+");
  CHECK(digit("42") == 1);
  CHECK(digit("42 ") == 0);
  CHECK(pattern_match("a.*b")("a\nb") == 1);
  CHECK_THROWS_WITH(pattern_match("(a"),
                    "pattern \"(a\": expected a regular expression, got: missing ): (a");
  CHECK_THROWS_AS(pattern_match("(a)\\1"), std::invalid_argument);
}

TEST_CASE("text_reward: long and hostile texts neither overflow the stack nor take for ever") {
  const std::string many(1'000'000, 'a');
  CHECK(pattern_match("(a|a)*b")(many) == 0);
  CHECK(pattern_match("(x+x+)+y")(std::string(1'000'000, 'x')) == 0);
  CHECK(pattern_match("(.*,)*z")(std::string(1'000'000, ',')) == 0);
  std::string digits(1'000'000, '1');
  CHECK_FALSE(last_number(digits));  // too large for a double
  std::string tags;
  for (int i = 0; i < 100'000; ++i) tags += "<a>";
  CHECK_FALSE(inside_tag(tags, "a"));
  CHECK(tag_format(tags, {"a", "b"}) == 0);
}
