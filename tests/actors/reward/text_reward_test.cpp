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
                                           {"007", 7},
                                           {"it is \u22125", -5},
                                           {"it is \u20135", -5},
                                           {"3\u20135", 5},
                                           {"1\u2009234\u2009567", 1234567},
                                           {"1\u202f234,5", 5},
                                           {"1\u00a0234 euros", 1234},
                                           {"1\\,234 or 12{,}345", 12345},
                                           {"1.234", 1.234},
                                           {"3/4", 0.75},
                                           {"-3/4", -0.75},
                                           {"on 1/2/2024", 2024},
                                           {"5/0", 0},
                                           {"6/2=3", 3},
                                           {"\\frac{3}{4}", 0.75},
                                           {"-\\dfrac{ 3 }{ 4 }", -0.75},
                                           {"\\frac{-3}{4}", -0.75},
                                           {"2\\frac{1}{2}", 2.5},
                                           {"-2\\frac{1}{2}", -2.5},
                                           {"50%", 50}}));
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

TEST_CASE("text_reward: a percentage is equal to its number and to its share") {
  for (const std::string answer : {"50", "50%", "50 %", "0.5", "1/2", "50\\%"}) {
    INFO(answer);
    CHECK(numeric_match(answer, "50%") == 1);
  }
  CHECK(numeric_match("50%", "0.5") == 1);
  CHECK(numeric_match("50%", "50") == 1);
  CHECK(numeric_match("50", "0.5") == 0);
  CHECK(numeric_match("0.5%", "50") == 0);
}

TEST_CASE("text_reward: the marked answer is in the last box, or after the last ####") {
  CHECK(marked_answer("so \\boxed{1} or \\boxed{\\frac{3}{4}}.") == "\\frac{3}{4}");
  CHECK(marked_answer("\\boxed{\\{1, 2\\}}") == "\\{1, 2\\}");
  CHECK(marked_answer("5 * 3\n#### 15\nDone, 99") == " 15");
  CHECK(marked_answer("#### 3 \\boxed{4}") == "4");
  CHECK(marked_answer("\\boxed{4") == "\\boxed{4");
  CHECK(marked_answer("42") == "42");
}

TEST_CASE("text_reward: words are contained as whole words of any script, in any case") {
  const auto [text, words, is_there] = GENERATE(table<std::string, std::string, bool>(
      {{"it is 5.", "5", true},
       {"it is 15", "5", false},
       {"51", "5", false},
       {"5.2", "5", false},
       {"3.5", "5", false},
       {"-5", "5", false},
       {"\u22125", "5", false},
       {"7-5", "5", true},
       {"-5", "-5", true},
       {"5, 6", "5", true},
       {"(5)", "5", true},
       {"5%", "5", true},
       {"x5", "5", false},
       {"In PARIS!", "paris", true},
       {"Parisian", "Paris", false},
       {"snake_case", "case", false},
       {"\u00c9COLE", "\u00e9cole", true},
       {"\u00e9coles", "\u00e9cole", false},
       {"\u041c\u041e\u0421\u041a\u0412\u0410", "\u043c\u043e\u0441\u043a\u0432\u0430", true},
       {"\u043f\u043e\u0434\u043c\u043e\u0441\u043a\u0432\u0430",
        "\u043c\u043e\u0441\u043a\u0432\u0430", false},
       {"\u79c1\u306f\u6771\u4eac\u306b", "\u6771\u4eac", true},
       {"\u7b54\u6848\u662f5\u3002", "5", true},
       {"a.b", "a.b", true},
       {"axb", "a.b", false},
       {"C++ it is", "C++", true},
       {"", "5", false},
       {"anything", " ", true},
       {"a\xff", "\xff", true}}));
  INFO(text);
  INFO(words);
  CHECK(contains_words(text, words) == is_there);
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
