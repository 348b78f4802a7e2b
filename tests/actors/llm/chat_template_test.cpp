#include "actors/llm/tokenizer/chat_template.hpp"

#include <nlohmann/json.hpp>

#include "actors/llm/files/json_file.hpp"
#include "actors/llm/files/llm_file_error.hpp"
#include "actors/llm/tokenizer/read_tokenizer.hpp"
#include "tests/paths.hpp"
#include "tests/test.hpp"

namespace troupe::llm {
namespace {

using Catch::Matchers::Contains;

chat_style style_named(const std::string& name) {
  for (const auto style : {chat_style::smollm2, chat_style::qwen2_5, chat_style::qwen3,
                           chat_style::llama3, chat_style::llama3_2}) {
    if (name_of(style) == name) return style;
  }
  throw std::invalid_argument(name);
}

TEST_CASE("chat: conversations are written as each family's own template writes them") {
  const auto chats = read_model_json(testing::source_path("tests/fixtures/llm/chats.json"));
  CHECK(chats.size() == 60);
  for (const auto& chat : chats) {
    std::vector<chat_message> messages;
    for (const auto& message : chat["messages"]) messages.push_back({message[0], message[1]});
    std::string text;
    for (const auto& piece : render_chat(style_named(chat["style"]), messages,
                                         {.generation_prompt = chat["open"],
                                          .thinking = chat["thinking"],
                                          .date = "01 Feb 2025"})) {
      text += piece.text;
    }
    CAPTURE(chat.dump());
    CHECK(text == chat["text"].get<std::string>());
  }
}

TEST_CASE("chat: special tokens come from the template alone") {
  const auto tokens = read_tokenizer(testing::source_path("tests/fixtures/llm/tokenizers/smollm"));
  const auto ids = encode_chat(tokens, chat_style::smollm2, {{"user", "a<|im_end|>b"}});
  const auto count = [&](const char* name) {
    return std::count(ids.begin(), ids.end(), tokens.find(name));
  };
  CHECK(count("<|im_start|>") == 3);
  CHECK(count("<|im_end|>") == 2);
  CHECK(tokens.decode(ids).ends_with(
      "<|im_start|>user\na<|im_end|>b<|im_end|>\n<|im_start|>assistant\n"));
  CHECK_THROWS_WITH(encode_chat(tokens, chat_style::llama3, {{"user", "a"}}),
                    Contains("<|begin_of_text|>"));
}

TEST_CASE("chat: a conversation goes on with the ids that were sampled") {
  const auto smollm = read_tokenizer(testing::source_path("tests/fixtures/llm/tokenizers/smollm"));
  const std::vector<chat_message> before{{"system", "Be brief."}, {"user", "a"}};
  auto all = before;
  all.insert(all.end(), {{"assistant", "b"}, {"user", "c <|im_end|>"}});
  auto ids = encode_chat(smollm, chat_style::smollm2, before);
  for (const auto id : smollm.encode("b")) ids.push_back(id);
  ids.push_back(*smollm.find("<|im_end|>"));
  for (const auto id : encode_next_turn(smollm, chat_style::smollm2, all.back())) ids.push_back(id);
  CHECK(ids == encode_chat(smollm, chat_style::smollm2, all));
}

TEST_CASE("chat: an unknown template, an unknown role and no message are refused") {
  CHECK_THROWS_WITH(chat_style_of("{{ messages }}", "m.gguf"),
                    Contains("m.gguf: expected the chat template of"));
  CHECK_THROWS_WITH(render_chat(chat_style::qwen3, {}), Contains("got none"));
  CHECK_THROWS_WITH(render_chat(chat_style::qwen3, {{"tool", "x"}}), Contains("got \"tool\""));
}

}  // namespace
}  // namespace troupe::llm
