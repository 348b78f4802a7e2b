#include "algorithms/language_models/sft/sft_example.hpp"

#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "actors/checkpoint/durable_file.hpp"
#include "actors/llm/tokenizer/read_tokenizer.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/message_of.hpp"
#include "tests/paths.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using Catch::Matchers::Contains;
using nlohmann::json;

const llm::tokenizer& smollm() {
  static const auto tokens =
      llm::read_tokenizer(testing::source_path("tests/fixtures/llm/tokenizers/smollm"));
  return tokens;
}

const llm::chat_style& smollm2() {
  static const auto style =
      llm::read_chat_style(testing::source_path("tests/fixtures/llm/tokenizers/smollm"));
  return style;
}

sft_encoding chat() { return {.tokens = &smollm(), .style = smollm2(), .max_tokens = 1000}; }
sft_encoding plain() { return {.tokens = &smollm(), .end = 7, .max_tokens = 1000}; }

std::vector<sft_example> examples_in(const json& row, const sft_encoding& encoding) {
  return examples_of({row}, encoding);
}

TEST_CASE("sft examples: prompt and answer are encoded one by one, and the answer ends") {
  const auto made = examples_in({{"prompt", "2 + 2 ="}, {"answer", " 4"}, {"source", 3}}, plain());
  REQUIRE(made.size() == 1);
  CHECK(made[0].prompt == smollm().encode("2 + 2 ="));
  auto answer = smollm().encode(" 4");
  answer.push_back(7);
  CHECK(made[0].answer == answer);
}

TEST_CASE("sft examples: with a chat style an example is what a model is asked, and its turn") {
  const auto made = examples_in({{"prompt", "Hello<|im_end|>"}, {"answer", "Hi."}}, chat());
  REQUIRE(made.size() == 1);
  CHECK(made[0].prompt == llm::encode_chat(smollm(), smollm2(), {{"user", "Hello<|im_end|>"}}));
  CHECK(smollm().decode(made[0].answer) == "Hi.<|im_end|>");
  CHECK(made[0].answer.back() == smollm().find("<|im_end|>"));
}

TEST_CASE("sft examples: each answer of a conversation comes after all that was said before it") {
  const json line{{"messages",
                   {{{"role", "system"}, {"content", "Be brief."}},
                    {{"role", "user"}, {"content", "One?"}},
                    {{"role", "assistant"}, {"content", "Uno."}},
                    {{"role", "user"}, {"content", "Two?"}},
                    {{"role", "assistant"}, {"content", "Dos."}}}}};
  const auto made = examples_in(line, chat());
  REQUIRE(made.size() == 2);
  CHECK(smollm().decode(made[0].answer) == "Uno.<|im_end|>");
  CHECK(smollm().decode(made[1].answer) == "Dos.<|im_end|>");
  const auto second = smollm().decode(made[1].prompt);
  CHECK_THAT(second, Contains("Be brief.") && Contains("Uno.<|im_end|>") && Contains("Two?"));
  CHECK(second.ends_with("<|im_start|>assistant\n"));
}

TEST_CASE("sft examples: without a chat template a conversation is text in paragraphs") {
  const json line{{"messages",
                   {{{"role", "user"}, {"content", "1+1="}},
                    {{"role", "assistant"}, {"content", "2"}},
                    {{"role", "user"}, {"content", "1+2="}},
                    {{"role", "assistant"}, {"content", "3"}}}}};
  auto encoding = plain();
  encoding.end = smollm().find("<|endoftext|>").value();
  encoding.system_prompt = "Add.";
  const auto made = examples_in(line, encoding);
  REQUIRE(made.size() == 2);
  CHECK(smollm().decode(made[0].prompt) == "Add.\n\n1+1=");
  CHECK(smollm().decode(made[0].answer) == "2<|endoftext|>");
  CHECK(smollm().decode(made[1].prompt) == "Add.\n\n1+1=2<|endoftext|>\n\n1+2=");
  CHECK(examples_in({{"prompt", "1+1="}, {"answer", "2"}}, encoding)[0] == made[0]);
}

TEST_CASE("sft examples: a line that can't be learned from is refused, with its file and place") {
  const auto refusal_of = [](const json& line, const sft_encoding& encoding) {
    return testing::message_of<std::invalid_argument>([&] { examples_in(line, encoding); });
  };
  CHECK_THAT(refusal_of({{"prompt", "a"}}, plain()),
             Contains("expected the field \"answer\", got the fields prompt"));
  CHECK_THAT(refusal_of({{"prompt", {{"a", 3}}}, {"answer", "b"}}, plain()),
             Contains("prompt: expected a text or a number"));
  CHECK_THAT(refusal_of({{"prompt", ""}, {"answer", "b"}}, plain()),
             Contains("prompt: expected a text, got an empty one"));
  CHECK_THAT(refusal_of({{"messages", 3}}, chat()),
             Contains("messages: expected a list of messages, got 3"));
  CHECK_THAT(refusal_of({{"messages", {3}}}, chat()),
             Contains("messages[0]: expected a message with \"role\" and \"content\", got 3"));
  CHECK_THAT(refusal_of({{"messages", json::array()}}, chat()), Contains("expected an answer"));
  CHECK_THAT(refusal_of({{"messages", {{{"role", "assistant"}, {"content", "a"}}}}}, chat()),
             Contains("something to answer"));
  CHECK_THAT(refusal_of({{"messages", {{{"role", "user"}, {"content", "a"}}}}}, plain()),
             Contains("expected an answer"));
  auto narrow = chat();
  narrow.max_tokens = 10;
  CHECK_THAT(refusal_of({{"prompt", "a"}, {"answer", "b"}}, narrow), Contains("at most 10 tokens"));

  const temporary_folder folder;
  const auto path = folder.path / "data.jsonl";
  write_durably(path, "{\"prompt\": \"a\", \"answer\": \"b\"}\n{\"prompt\": \"a\"}\n");
  CHECK_THROWS_WITH(read_sft_examples(path, plain()),
                    Contains("data.jsonl:2: expected the field \"answer\""));
  write_durably(
      path, "{\"prompt\": \"a\", \"answer\": \"b\"}\n\n{\"prompt\": \"c\", \"answer\": \"d\"}\n");
  CHECK(read_sft_examples(path, plain()).size() == 2);
}

/// What `act` gives, or the message with which it refuses.
template <class Act>
auto outcome_of(Act act) {
  std::pair<decltype(act()), std::string> made;
  made.second = testing::message_of<std::invalid_argument>([&] { made.first = act(); });
  return made;
}

TEST_CASE("sft examples: rows with tools and calls are written by the chat template, or refused") {
  for (const auto* name : {"calls", "calls_of_objects", "tools_column", "calls_beside_text"}) {
    const auto path =
        testing::source_path(std::string("tests/fixtures/llm/datasets/") + name + ".jsonl");
    llm::for_each_row(path, {}, [&](const json& object, std::string_view text) {
      CAPTURE(name, object);
      const auto row = llm::read_row({object, text}, {});
      const auto made = outcome_of([&] { return examples_of({object, text}, chat()); });
      const auto expected = outcome_of([&] {
        std::vector<sft_example> all;
        for (const auto i : row.learned) {
          const std::vector before(row.messages.begin(), row.messages.begin() + std::ptrdiff_t(i));
          const llm::chat_options options{.tools = row.tools};
          const auto& [tokens, style] = std::pair(&smollm(), chat().style.value());
          all.push_back({llm::encode_chat(*tokens, style, before, options),
                         llm::encode_answer(*tokens, style, before, row.messages[i], options)});
        }
        return all;
      });
      if (!expected.second.empty()) {  // the template takes no tools
        CHECK(made.second == expected.second);
      } else if (made.second.empty()) {
        CHECK((made.first == expected.first));
        if (!row.tools.empty())
          CHECK_THAT(smollm().decode(made.first.front().prompt), Contains("weather"));
      } else {  // the template would leave a part of the row out
        CHECK_THAT(made.second, Contains("expected a model whose chat template writes them"));
      }
    });
  }
}

TEST_CASE("sft examples: all tokens of a document are learned, and its end") {
  auto encoding = plain();
  const auto made = examples_in({{"text", "Once upon a time."}}, encoding);
  REQUIRE(made.size() == 1);
  auto all = made[0].prompt;
  CHECK(all.size() == 1);
  all.insert(all.end(), made[0].answer.begin(), made[0].answer.end());
  auto expected = smollm().encode("Once upon a time.", {.add_special = true});
  expected.push_back(7);
  CHECK(all == expected);
  encoding.fields.text = "body";
  CHECK((examples_in({{"body", "Once upon a time."}}, encoding) == made));
  encoding = chat();
  encoding.end = 7;
  CHECK((examples_in({{"text", "Once upon a time."}}, encoding) == made));
}

TEST_CASE("sft examples: messages that are no answers, or are marked, are not learned") {
  const auto user = [](const char* text) { return json{{"role", "user"}, {"content", text}}; };
  const auto said = [](const char* text) { return json{{"role", "assistant"}, {"content", text}}; };
  auto unlearned = said("Uno.");
  unlearned["train"] = false;
  const auto marked =
      examples_in({{"messages", {user("One?"), unlearned, user("Two?"), said("Dos.")}}}, chat());
  REQUIRE(marked.size() == 1);
  CHECK(smollm().decode(marked[0].answer) == "Dos.<|im_end|>");
  CHECK_THAT(smollm().decode(marked[0].prompt), Contains("Uno.<|im_end|>"));
  const auto completed = examples_in(
      {{"prompt", {user("One?"), said("Uno."), user("Two?")}}, {"completion", {said("Dos.")}}},
      chat());
  CHECK((completed == marked));
}

}  // namespace
}  // namespace troupe
