#include "algorithms/language_models/sft/sft_example.hpp"

#include <nlohmann/json.hpp>

#include "actors/checkpoint/durable_file.hpp"
#include "actors/data/jsonl.hpp"
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

TEST_CASE("sft examples: prompt and answer are encoded one by one, and the answer ends") {
  const auto made = examples_of({{"prompt", "2 + 2 ="}, {"answer", " 4"}, {"source", 3}}, plain());
  REQUIRE(made.size() == 1);
  CHECK(made[0].prompt == smollm().encode("2 + 2 ="));
  auto answer = smollm().encode(" 4");
  answer.push_back(7);
  CHECK(made[0].answer == answer);
}

TEST_CASE("sft examples: with a chat style an example is what a model is asked, and its turn") {
  const auto made = examples_of({{"prompt", "Hello<|im_end|>"}, {"answer", "Hi."}}, chat());
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
  const auto made = examples_of(line, chat());
  REQUIRE(made.size() == 2);
  CHECK(smollm().decode(made[0].answer) == "Uno.<|im_end|>");
  CHECK(smollm().decode(made[1].answer) == "Dos.<|im_end|>");
  const auto second = smollm().decode(made[1].prompt);
  CHECK_THAT(second, Contains("Be brief.") && Contains("Uno.<|im_end|>") && Contains("Two?"));
  CHECK(second.ends_with("<|im_start|>assistant\n"));
}

TEST_CASE("sft examples: a line that can't be learned from is refused, with its file and place") {
  const auto refusal_of = [](const json& line, const sft_encoding& encoding) {
    return testing::message_of<std::invalid_argument>([&] { examples_of(line, encoding); });
  };
  CHECK_THAT(refusal_of({{"prompt", "a"}}, plain()), Contains("answer: expected a text, got none"));
  CHECK_THAT(refusal_of({{"prompt", 3}, {"answer", "b"}}, plain()), Contains("got number"));
  CHECK_THAT(refusal_of({{"prompt", ""}, {"answer", "b"}}, plain()), Contains("one token or more"));
  CHECK_THAT(refusal_of({{"messages", 3}}, chat()), Contains("expected a list, got number"));
  CHECK_THAT(refusal_of({{"messages", {3}}}, chat()), Contains("expected objects"));
  CHECK_THAT(refusal_of({{"messages", json::array()}}, chat()), Contains("expected an answer"));
  CHECK_THAT(refusal_of({{"messages", {{{"role", "assistant"}, {"content", "a"}}}}}, chat()),
             Contains("something to answer"));
  CHECK_THAT(refusal_of({{"messages", {{{"role", "user"}, {"content", "a"}}}}}, plain()),
             Contains("known chat template"));
  auto narrow = chat();
  narrow.max_tokens = 10;
  CHECK_THAT(refusal_of({{"prompt", "a"}, {"answer", "b"}}, narrow), Contains("at most 10 tokens"));

  const temporary_folder folder;
  const auto path = folder.path / "data.jsonl";
  write_durably(path, "{\"prompt\": \"a\", \"answer\": \"b\"}\n{\"prompt\": \"a\"}\n");
  CHECK_THROWS_WITH(read_sft_examples(path, plain()),
                    Contains("data.jsonl:2: answer: expected a text"));
  write_durably(
      path, "{\"prompt\": \"a\", \"answer\": \"b\"}\n\n{\"prompt\": \"c\", \"answer\": \"d\"}\n");
  CHECK(read_sft_examples(path, plain()).size() == 2);
}

}  // namespace
}  // namespace troupe
