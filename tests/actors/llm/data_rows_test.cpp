#include "actors/llm/tasks/data_rows.hpp"

#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "actors/data/jsonl.hpp"
#include "actors/llm/tasks/data_problems.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/message_of.hpp"
#include "tests/paths.hpp"
#include "tests/test.hpp"

namespace troupe::llm {
namespace {

using Catch::Matchers::Contains;
using nlohmann::json;

data_row row_of(const std::string& text, const data_fields& fields = {}) {
  const auto object = json::parse(text);
  return read_row({object, text}, fields);
}

std::string refusal_of(const std::string& text, const data_fields& fields = {}) {
  return testing::message_of<std::invalid_argument>([&] { row_of(text, fields); });
}

/// The rows of a file of datasets with tools.
std::vector<data_row> rows_of(const std::string& name) {
  std::vector<data_row> rows;
  for_each_row(
      testing::source_path("tests/fixtures/llm/datasets/" + name), {},
      [&](const json& row, std::string_view text) { rows.push_back(read_row({row, text}, {})); });
  return rows;
}

constexpr const char* weather =
    R"([{"type":"function","function":{"name":"weather","description":"The weather of a city.",)"
    R"("parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}}])";

TEST_CASE("data rows: twenty faults are told, and how many there are more") {
  std::vector<std::string> faults(20, "a fault");
  CHECK_THAT(data_error(faults).what(), !Contains("more"));
  faults.emplace_back("another");
  CHECK_THAT(data_error(faults).what(), Contains("\nand 1 more; ") && !Contains("another"));
}

TEST_CASE("data rows: tools and calls are kept as they are given, in the order of their keys") {
  const auto calls = rows_of("calls.jsonl");
  REQUIRE(calls.size() == 4);
  CHECK(calls[0].tools == weather);
  REQUIRE(calls[0].messages.size() == 4);
  CHECK(calls[0].messages[1].content.empty());  // it was null
  CHECK(calls[0].messages[1].fields ==
        R"({"tool_calls":[{"id":"c1","type":"function","function":)"
        R"({"name":"weather","arguments":"{\"city\": \"Oslo\"}"}}]})");
  CHECK(calls[0].messages[2].role == "tool");
  CHECK(calls[0].messages[2].fields == R"({"tool_call_id":"c1","name":"weather"})");
  CHECK(calls[0].learned == std::vector<std::size_t>{1, 3});
  CHECK(calls[0].asked == 3);
  CHECK(calls[1].messages[1].fields == R"({"tool_calls":[{"id":"c1","type":"function","function":)"
                                       R"({"name":"weather","arguments":{"city":"Oslo"}}}]})");
  CHECK(calls[2].messages[1].role == "tool");
  CHECK(calls[3].messages[0].content == "Is it warm in Oslo?");  // it was a list of parts
  CHECK(rows_of("calls_of_objects.jsonl").at(0).messages[1].fields == calls[1].messages[1].fields);
  for (const auto& row : rows_of("tools_column.jsonl")) CHECK(row.tools == weather);
  for (const auto& row : rows_of("calls_beside_text.jsonl")) {
    CHECK(row.messages[1].content == "I ask.");
    CHECK_THAT(row.messages[1].fields, Contains(R"("tool_calls":[{"id":"c1")"));
  }
}

TEST_CASE("data rows: tools may be the text of a list, and empty tools and calls are none") {
  const auto row = row_of(R"({"messages": [{"role": "user", "content": "a"},
    {"role": "assistant", "content": "b", "tool_calls": [], "name": null}],
    "tools": "[{\"b\": 1, \"a\": 2}]"})");
  CHECK(row.tools == R"([{"b":1,"a":2}])");
  CHECK(row.messages[1].fields.empty());
  CHECK(row_of(R"({"prompt": "a", "answer": "b", "tools": []})").tools.empty());
  CHECK(row_of(R"({"prompt": "a", "answer": "b", "tools": ""})").tools.empty());
}

TEST_CASE("data rows: what can't be learned is refused by the name of its field") {
  const auto with = [](const std::string& message) {
    return R"({"messages": [{"role": "user", "content": "a"}, )" + message + "]}";
  };
  CHECK_THAT(refusal_of(with(R"({"role": "assistant", "content": null})")),
             Contains("messages[1].content: expected a text, got null"));
  CHECK_THAT(refusal_of(with(R"({"role": "assistant"})")),
             Contains("messages[1].content: expected a text, got none"));
  CHECK_THAT(refusal_of(with(R"({"role": "assistant", "content": [{"type": "image"}]})")),
             Contains("messages[1].content[0]: expected a part of the type text") &&
                 Contains("\"image\""));
  CHECK_THAT(refusal_of(with(R"({"role": "assistant", "content": "b", "tool_calls": "x"})")),
             Contains("messages[1].tool_calls: expected a list of calls"));
  CHECK_THAT(refusal_of(with(R"({"role": "assistant", "content": "b", "function_call": {}})")),
             Contains("messages[1].function_call: expected tool_calls"));
  for (const auto* field : {"tool_call_id", "name", "reasoning_content"})
    CHECK_THAT(
        refusal_of(with(std::string(R"({"role": "tool", "content": "b", ")") + field + R"(": 5})")),
        Contains(std::string("messages[1].") + field + ": expected a text, got 5"));
  CHECK_THAT(refusal_of(with(R"({"from": "gpt", "value": "b"})")),
             Contains("messages[1].role: expected a text") && Contains("from, value"));
  CHECK_THAT(refusal_of(with(R"({"role": "user", "content": "b", "train": true})")),
             Contains("messages[1].train: ") && Contains("the assistant alone"));
  CHECK_THAT(refusal_of(with(R"({"role": "assistant", "content": "b", "weight": 0.5})")),
             Contains("messages[1].weight: expected 0 or 1"));
  CHECK_THAT(refusal_of(R"({"prompt": "a", "answer": "b", "tools": "weather"})"),
             Contains("tools: expected a list of tools, or its text in JSON, got \"weather\""));
  CHECK_THAT(refusal_of(R"({"prompt": "a", "answer": "b", "tools": [3]})"), Contains("tools: "));
  CHECK_THAT(
      refusal_of(R"({"prompt": "a", "answer": "b", "chat_template_kwargs": {"thinking": false}})"),
      Contains("chat_template_kwargs: expected none"));
  CHECK_THAT(refusal_of(R"({"prompt": "a", "chosen": "b", "rejected": "c"})"),
             Contains("expected the field \"answer\", got the fields chosen, prompt, rejected") &&
                 Contains("learning from preferences"));
}

TEST_CASE("data rows: a field that is null is told as null, and not as missing") {
  const auto [text, expected] = GENERATE(table<std::string, std::string>({
      {R"({"prompt": null, "answer": "b"})", "prompt: expected a value, got null"},
      {R"({"prompt": "a", "answer": null})", "answer: expected a value, got null"},
      {R"({"prompt": "a", "completion": null})", "completion: expected a value, got null"},
      {R"({"prompt": "a", "answer": null, "completion": null})",
       "answer: expected a value, got null"},
      {R"({"messages": null})", "expected the field \"prompt\", got the fields messages (null)"},
      {R"({"text": null})", "expected the field \"prompt\", got the fields text (null)"},
  }));
  CHECK(refusal_of(text) == expected);
  CHECK(refusal_of(R"({"story": null})", {.text = "story"}) == "story: expected a value, got null");
}

TEST_CASE("data rows: a missing field is told with what the row may have been meant for") {
  const auto [text, field, hint] = GENERATE(table<std::string, std::string, std::string>({
      {R"({"messages": []})", "prompt",
       "; --algo sft learns the answers in messages, and task.prompt=messages asks them"},
      {R"({"text": "a"})", "prompt", "; --algo sft learns texts"},
      {R"({"chosen": "a", "prompt": "b", "rejected": "c"})", "answer",
       "; chosen and rejected answers are for learning from preferences, which no algorithm here "
       "does"},
      {R"({"messages": []})", "answer", ""},
      {R"({"text": "a"})", "answer", ""},
      {R"({"chosen": "a", "prompt": "b"})", "answer", ""},
      {R"({"prompt": "b", "rejected": "c"})", "answer", ""},
  }));
  const auto row = json::parse(text);
  std::string names;
  for (const auto& [name, value] : row.items()) names += (names.empty() ? "" : ", ") + name;
  CHECK(testing::message_of<std::invalid_argument>([&] { field_of(row, field); }) ==
        "expected the field \"" + field + "\", got the fields " + names + hint);
}

TEST_CASE("data rows: a boolean is the text of it, as a number is") {
  CHECK(row_of(R"({"prompt": "a", "answer": true})").messages.back().content == "true");
  CHECK(row_of(R"({"prompt": 5, "answer": false})").messages.front().content == "5");
  const auto object = json::parse(R"({"prompt": "a", "answer": true})");
  CHECK(answer_of_row({object}, {}) == "true");
}

TEST_CASE("data rows: prompts and completions are texts or messages, and documents are texts") {
  const auto made = row_of(R"({"prompt": [{"role": "user", "content": "a"}], "completion":
    [{"role": "assistant", "content": "b"}, {"role": "user", "content": "c"},
     {"role": "assistant", "content": "d"}]})");
  REQUIRE(made.messages.size() == 4);
  CHECK(made.asked == 1);
  CHECK(made.learned == std::vector<std::size_t>{1, 3});
  CHECK_FALSE(made.is_text);
  // An answer in the prompt is not learned.
  const auto asked = row_of(R"({"prompt": [{"role": "user", "content": "a"},
    {"role": "assistant", "content": "b"}, {"role": "user", "content": "c"}], "answer": 5})");
  CHECK(asked.learned == std::vector<std::size_t>{3});
  CHECK(asked.messages[3].content == "5");
  const auto skipped = row_of(R"({"messages": [{"role": "user", "content": "a"},
    {"role": "assistant", "content": "b", "weight": 0}, {"role": "user", "content": "c"},
    {"role": "assistant", "content": "d", "weight": 1}]})");
  CHECK(skipped.learned == std::vector<std::size_t>{3});
  CHECK(skipped.messages[1].fields.empty());
  CHECK(row_of(R"({"text": "A story."})").text == "A story.");
  CHECK(row_of(R"({"body": "A story.", "prompt": "a"})", {.text = "body"}).text == "A story.");
  CHECK_THAT(refusal_of(R"({"text": ["a"]})"), Contains("text: expected a text"));
  CHECK_THAT(refusal_of(R"({"text": " "})"), Contains("text: expected a text, got an empty one"));
}

TEST_CASE("data rows: the key of a row is that of its problem, and has all that is asked") {
  const auto key_of_problem = [](const std::string& text, const data_fields& fields) {
    const auto object = json::parse(text);
    return prompt_key(problem_of_row({object, text}, fields));
  };
  const std::string conversation = R"([{"role": "system", "content": "s"},
    {"role": "user", "content": "a"}])";
  for (const auto& [text, prompt] :
       {std::pair<std::string, std::string>{R"({"prompt": "a", "answer": "b"})", "prompt"},
        {R"({"prompt": )" + conversation + R"(, "answer": "b"})", "prompt"},
        {R"({"messages": )" + conversation + R"(, "answer": "b"})", "messages"},
        {R"({"q": "a", "c": "x", "answer": "b", "tools": [{}]})", "{c}: {q}"},
        {R"({"prompt": "a", "answer": "b", "messages": [{"role": "system", "content": "s"},
            {"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]})",
         "prompt"}})
    CHECK(row_of(text, {.prompt = prompt}).key() == key_of_problem(text, {.prompt = prompt}));
  const auto key = [](const std::string& text) { return row_of(text).key(); };
  const auto plain = key(R"({"prompt": "a", "answer": "b"})");
  CHECK(plain == key(R"({"prompt": [{"role": "user", "content": "a"}], "answer": "c"})"));
  CHECK(plain == key(R"({"messages": [{"role": "user", "content": "a"},
                                      {"role": "assistant", "content": "b"}]})"));
  CHECK(plain != key(R"({"prompt": "a", "answer": "b", "tools": [{}]})"));
  CHECK(plain != key(R"({"prompt": [{"role": "system", "content": "s"},
                                    {"role": "user", "content": "a"}], "answer": "b"})"));
}

TEST_CASE("data rows: fewer held-out prompts are the first of more, and few files hold none out") {
  const auto most = draw_held_out(50, 20, 7);
  const auto few = draw_held_out(50, 5, 7);
  CHECK(few == std::vector<std::size_t>(most.begin(), most.begin() + 5));
  CHECK(draw_held_out(50, 5, 8) != few);
  for (const auto& [prompts, expected] :
       {std::pair{1, 0}, {3, 0}, {4, 2}, {20, 2}, {50, 5}, {2000, 200}, {9000, 200}})
    CHECK(usual_held_out(prompts) == expected);
  const std::vector<std::string> keys{"b", "a", "b"};
  CHECK(rows_by_prompt(keys) == std::vector<std::vector<std::size_t>>{{0, 2}, {1}});
}

TEST_CASE("data rows: a file of another kind is refused as a whole, with what converts it") {
  const temporary_folder folder;
  const auto refusal = [&](const char* name, const char* content) {
    const auto path = folder.path / name;
    std::ofstream(path) << content;
    return testing::message_of<data_error>(
        [&] { for_each_row(path, {}, [](const json&, std::string_view) {}); });
  };
  CHECK_THAT(refusal("a.csv", "prompt,answer\n"), Contains("got CSV; ") && Contains("to_json"));
  CHECK_THAT(refusal("a.txt", "text"), Contains("got plain text; ") && Contains("\"text\""));
  CHECK_THAT(refusal("a.jsonl.gz", "x"), Contains("got a compressed file; gunzip"));
  CHECK_THAT(refusal("a.json", " [\n{\"prompt\": 1}\n]"), Contains("got a list of JSON; `jq"));
  CHECK(refusal("b.json", "{\"prompt\": 1}\n").empty());  // lines by another name
}

}  // namespace
}  // namespace troupe::llm
