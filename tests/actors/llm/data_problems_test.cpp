#include "actors/llm/tasks/data_problems.hpp"

#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "actors/data/jsonl.hpp"
#include "actors/llm/tasks/python_problems.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/test.hpp"

namespace troupe::llm {
namespace {

using Catch::Matchers::Contains;
using nlohmann::json;

TEST_CASE("data problems: a line's fields become prompt, answer and columns") {
  const json line{{"question", "2+3?"}, {"answer", 5}, {"source", "book"}};
  const auto made = problem_of_row({line}, {.prompt = "question"});
  CHECK(made.question == "2+3?");
  CHECK(made.letters == "2+3?");
  CHECK(made.expected == "5");
  CHECK(json::parse(made.columns) == line);
  const auto filled = problem_of_row({line}, {.prompt = "From a {source}: {question} {{n}}"});
  CHECK(filled.question == "From a book: 2+3? {n}");
  const json unanswered{{"prompt", "x"}};
  CHECK(problem_of_row({unanswered}, {.needs_answer = false}).expected.empty());
  const json completed{{"prompt", "x"}, {"completion", "y"}};
  CHECK(problem_of_row({completed}, {}).expected == "y");
  const json said{{"prompt", "x"}, {"answer", {{{"role", "assistant"}, {"content", "y"}}}}};
  CHECK(problem_of_row({said}, {}).expected == "y");
}

TEST_CASE("data problems: the columns that rewards may take are the fields of all rows") {
  const problem first{.columns = R"({"prompt": "a", "answer": "1"})"};
  const problem second{.columns = R"({"prompt": "b", "source": "book"})"};
  const problem drawn{.question = "1 + 1", .expected = "2"};
  using names = std::vector<std::string>;
  CHECK(columns_of({&first, &second}, false) == names{"answer", "prompt", "source"});
  CHECK(columns_of({&drawn}, true) == names{"answer", "tests_passed"});
}

TEST_CASE("data problems: messages are a conversation that ends with the user's") {
  const json line{
      {"prompt",
       {{{"role", "system"}, {"content", "Be brief."}}, {{"role", "user"}, {"content", "Hi"}}}},
      {"answer", "Ho"}};
  const auto made = problem_of_row({line}, {});
  REQUIRE(made.messages.size() == 2);
  CHECK(made.messages[0].role == "system");
  CHECK(made.question == "Hi");
  CHECK(made.letters == "Be brief.\nHi");
  const auto refuse = [](const char* prompt, const char* expected) {
    const auto line = json::parse(std::string(R"({"answer": "x", "prompt": )") + prompt + "}");
    CHECK_THROWS_WITH(problem_of_row({line}, {}), Contains(expected));
  };
  refuse(R"([{"role": "assistant", "content": "x"}])", "a last message of the role user");
  refuse(R"([{"role": "user"}])", "prompt[0].content: expected a text, got none");
  refuse("[3]", "prompt[0]: expected a message with \"role\" and \"content\", got 3");
  refuse("[]", "got none");
  refuse("{}", "prompt: expected a text or a number, got {}");
  refuse("\"  \"", "prompt: expected a text, got an empty one");
}

TEST_CASE("data problems: items of generators are conversations as lines of files are") {
  const std::string text = R"({"prompt": [{"role": "system", "content": "Be brief."},
                                          {"role": "user", "content": "2+3?"}],
                               "answer": 5, "tools": [{"type": "function", "function": {"name": "f"}}]})";
  const auto made = problem_of(json::parse(text), text);
  REQUIRE(made.messages.size() == 2);
  CHECK(made.messages[0].content == "Be brief.");
  CHECK(made.question == "2+3?");
  CHECK(made.letters == "Be brief.\n2+3?");
  CHECK(made.expected == "5");
  // The keys have the order of the text, as chat templates write them.
  CHECK(made.tools == R"([{"type":"function","function":{"name":"f"}}])");
  CHECK_FALSE(json::parse(made.columns).contains("prompt"));
  CHECK(prompt_key(made) == prompt_key(problem_of_row({json::parse(text), text}, {})));
  const auto worded = problem_of({{"prompt", "2+3?"}});
  CHECK(worded.question == "2+3?");
  CHECK(worded.messages.empty());

  const auto refuse = [](const char* prompt, const char* expected) {
    const auto item = json::parse(std::string(R"({"prompt": )") + prompt + "}");
    CHECK_THROWS_WITH(problem_of(item), Contains(expected));
  };
  refuse(R"([{"role": "assistant", "content": "x"}])", "a last message of the role user");
  refuse(R"([{"role": "user", "content": [{"type": "image"}]}])", "a part of the type text");
  refuse("[]", "prompt: expected a last message of the role user or tool, got none");
  refuse("5", "prompt: expected a text or a list of messages, got 5");
  refuse("null", "prompt: expected a text or a list of messages, got null");
}

TEST_CASE("data problems: a generator's conversation that ends like a held-out one is trained on") {
  const auto ends_alike = [](const char* first) {
    return json{{"prompt",
                 {{{"role", "system"}, {"content", first}},
                  {{"role", "user"}, {"content", "Which is it?"}}}}};
  };
  const auto make = training_problems({problem_of(ends_alike("My number is 1."))});
  CHECK_FALSE(make(ends_alike("My number is 1."), {}));
  const auto other = make(ends_alike("My number is 2."), {});
  REQUIRE(other);
  CHECK(other->question == "Which is it?");
}

/// The faults of a file with these lines.
std::vector<std::string> faults_of(const std::string& lines, const data_fields& fields = {}) {
  const temporary_folder folder;
  const auto path = folder.path / "train.jsonl";
  std::ofstream(path) << lines;
  try {
    read_data(path, fields);
  } catch (const data_error& error) {
    auto faults = error.faults();
    for (auto& fault : faults) fault = fault.substr(folder.path.string().size() + 1);
    return faults;
  }
  return {};
}

TEST_CASE("data problems: all bad lines of a file are told at once, each with its place") {
  const auto faults = faults_of(R"({"prompt": "a", "answer": "b"}
{"prompt": "a"}
{"question": "a", "answer": "b"}

not JSON
{"prompt": "", "answer": "b"}
{"prompt": "a", "answer": ["b"]}
[1]
)");
  REQUIRE(faults.size() == 6);
  CHECK(faults[0] == "train.jsonl:2: expected the field \"answer\", got the fields prompt");
  CHECK(faults[1] ==
        "train.jsonl:3: expected the field \"prompt\", got the fields answer, question");
  CHECK_THAT(faults[2], Contains("train.jsonl:5: "));
  CHECK(faults[3] == "train.jsonl:6: prompt: expected a text, got an empty one");
  CHECK_THAT(faults[4], Contains("train.jsonl:7: answer: expected a text or a number"));
  CHECK_THAT(faults[5], Contains("train.jsonl:8: expected an object"));
  const std::string many = data_error(std::vector<std::string>(25, "x")).what();
  CHECK_THAT(many, Contains("and 5 more"));
}

TEST_CASE("data problems: a line that is too long is told, and those after it are read") {
  const std::string longer(std::size_t{2} << 20, 'x');
  const auto faults = faults_of("{\"prompt\": \"" + longer + "\"}\n{\"prompt\": 1}\n");
  REQUIRE(faults.size() == 2);
  CHECK_THAT(faults[0], Contains("train.jsonl:1: expected a line of at most 1048576 bytes"));
  CHECK_THAT(faults[1], Contains("train.jsonl:2: "));
}

data_problems read(const std::string& lines, const data_fields& fields) {
  const temporary_folder folder;
  const auto path = folder.path / "train.jsonl";
  std::ofstream(path) << lines;
  return read_data(path, fields);
}

TEST_CASE("data problems: levels are numbers in their order, or texts that are named") {
  const auto lines = R"({"prompt": "a", "answer": "x", "at": 30}
{"prompt": "b", "answer": "x", "at": 2}
{"prompt": "c", "answer": "x", "at": 30})";
  const auto numbers = read(lines, {.level = "at"});
  CHECK(numbers.problems[0].level == 1);
  CHECK(numbers.problems[1].level == 0);
  CHECK(numbers.problems[2].level == 1);
  CHECK(numbers.levels.size() == 2);
  const std::string texts = R"({"prompt": "a", "answer": "x", "at": "hard"}
{"prompt": "b", "answer": "x", "at": "easy"})";
  const auto named = read(texts, {.level = "at", .levels = {"easy", "hard"}});
  CHECK(named.problems[0].level == 1);
  const auto unnamed = faults_of(texts, {.level = "at", .levels = {"easy"}});
  REQUIRE(unnamed.size() == 1);
  CHECK_THAT(unnamed[0], Contains("that task.levels names from the easiest, got hard"));
  CHECK_THAT(faults_of(texts, {.level = "level"}).at(0), Contains("the field \"level\""));
}

TEST_CASE("data problems: held-out prompts are none of training, and the seed draws them") {
  std::vector<problem> all;
  for (int i = 0; i < 50; ++i)
    all.push_back({.question = std::to_string(i % 25), .expected = std::to_string(i)});
  const auto made = divided(all, 5, 1);
  CHECK(made.held_out.size() == 5);
  CHECK(made.training.size() == 40);
  std::set<std::string> held_out;
  for (const auto& each : made.held_out) held_out.insert(each.question);
  CHECK(held_out.size() == 5);
  for (const auto& each : made.training) CHECK_FALSE(held_out.contains(each.question));
  const auto again = divided(all, 5, 1), other = divided(all, 5, 2);
  const auto questions = [](const problem_set& of) {
    std::vector<std::string> texts;
    for (const auto& each : of.held_out) texts.push_back(each.question);
    return texts;
  };
  CHECK(questions(again) == questions(made));
  CHECK(questions(other) != questions(made));
  CHECK_THROWS_AS(divided(all, 25, 1), problem_counts_error);
}

TEST_CASE("data problems: conversations that end alike are different prompts") {
  std::string lines;
  for (int i = 0; i < 100; ++i)
    lines += R"({"prompt": [{"role": "user", "content": "My number is )" + std::to_string(i) +
             R"("}, {"role": "assistant", "content": "Yes?"},
               {"role": "user", "content": "Which is it?"}], "answer": )" +
             std::to_string(i) + "}";
  std::erase(lines, '\n');
  for (std::size_t at = 0; (at = lines.find("}{", at)) != lines.npos;) lines.insert(at + 1, "\n");
  const auto all = read(lines, {}).problems;
  REQUIRE(all.size() == 100);
  CHECK(different_prompts(all) == 100);
  const auto made = divided(all, 10, 1);
  CHECK(made.held_out.size() == 10);
  CHECK(made.training.size() == 90);
  // The tools are a part of the prompt, too.
  CHECK(different_prompts({{.question = "a"}, {.question = "a", .tools = "[{}]"}}) == 2);
}

TEST_CASE("data problems: without held-out prompts, those that are trained on are judged") {
  const std::vector<problem> all{{.question = "a"}, {.question = "b"}, {.question = "a"}};
  const auto made = divided(all, 0, 1);
  CHECK(made.training.size() == 3);
  CHECK(made.held_out.size() == 2);
  CHECK_THROWS_WITH(divided({{.question = "a"}}, 1, 1), Contains("expected 0, as the one prompt"));
  const auto few = data_task("few", std::make_shared<data_problems>(data_problems{all, {}}), {});
  CHECK(few.counts.held_out == 0);
}

TEST_CASE("data problems: Parquet is read in Python, and what is missing there is named") {
  const temporary_folder folder;
  const auto path = folder.path / "train.parquet";
  const data_fields fields{.python = {.interpreter = "/no/such/python"}};
  CHECK_THROWS_WITH(read_data(path, fields), Contains("expected a regular file"));
  std::ofstream(path) << "x";
  CHECK_THROWS_WITH(read_data(path, fields),
                    Contains("expected a Python interpreter, got \"/no/such/python\""));
  CHECK_THROWS_AS(read_data("/no/such/train.jsonl", {}), jsonl_error);
}

}  // namespace
}  // namespace troupe::llm
