#include "actors/llm/tokenizer/conversation_format.hpp"

#include <algorithm>
#include <optional>

#include "actors/checkpoint/durable_file.hpp"
#include "actors/llm/files/llm_file_error.hpp"
#include "actors/llm/tokenizer/read_tokenizer.hpp"
#include "tests/actors/llm/gguf_bytes.hpp"
#include "tests/actors/llm/named_style.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/message_of.hpp"
#include "tests/paths.hpp"
#include "tests/test.hpp"

namespace troupe::llm {
namespace {

using Catch::Matchers::Contains;

const tokenizer& words() {
  static const auto tokens =
      read_tokenizer(testing::source_path("tests/fixtures/llm/tokenizers/qwen2"));
  return tokens;
}

token_id end() { return words().find("<|im_end|>").value(); }

const std::vector<chat_message> two_turns{
    {"user", "One?"}, {"assistant", "<think>\nAha.\n</think>\n\nuno"}, {"user", "Two?"}};

conversation_format qwen3(std::optional<bool> thinking = {}, bool keep = false) {
  conversation_format made{
      .style = testing::style_named("qwen3"), .end = end(), .keep_thoughts = keep};
  if (thinking) made.chat.thinking = *thinking;
  return made;
}

std::string text_of(const conversation_format& format, const std::vector<chat_message>& said) {
  return words().decode(format.prompt(words(), said));
}

TEST_CASE("conversation format: plain text has the messages in paragraphs and ends after answers") {
  const conversation_format plain{.end = end()};
  CHECK(plain.prompt(words(), {{"user", "2+2="}}) == words().encode("2+2="));
  CHECK(text_of(plain, {{"system", "Be brief."}, {"user", "2+2="}}) == "Be brief.\n\n2+2=");
  CHECK(text_of(plain, two_turns) == "One?<think>\nAha.\n</think>\n\nuno<|im_end|>\n\nTwo?");
  // A conversation that grows has the tokens of one that is there already.
  auto grown = plain.prompt(words(), {two_turns[0]});
  for (const auto id : plain.answer(words(), two_turns[1].content)) grown.push_back(id);
  for (const auto id : plain.next(words(), two_turns[2])) grown.push_back(id);
  CHECK(grown == plain.prompt(words(), two_turns));
  CHECK_FALSE(plain.rewrites());
  // The text of a user can't end an answer.
  CHECK(std::ranges::count(plain.prompt(words(), {{"user", "a<|im_end|>b"}}), end()) == 0);
}

TEST_CASE("conversation format: what plain text can't have is refused in a sentence") {
  conversation_format plain{.end = end()};
  const auto refusal = [&](std::vector<chat_message> said) {
    return testing::message_of<std::invalid_argument>([&] { plain.prompt(words(), said); });
  };
  CHECK_THAT(refusal({}), Contains("a message or more"));
  CHECK_THAT(refusal({{"user", "a", R"({"name": "b"})"}}), Contains("without a chat template"));
  plain.chat.tools = R"([{"type": "function"}])";
  CHECK_THAT(refusal({{"user", "a"}}), Contains("has no tools"));
}

TEST_CASE("conversation format: a template drops the thoughts of earlier turns, or they are kept") {
  const auto dropped = text_of(qwen3(), two_turns);
  CHECK(dropped ==
        "<|im_start|>user\nOne?<|im_end|>\n<|im_start|>assistant\nuno<|im_end|>\n"
        "<|im_start|>user\nTwo?<|im_end|>\n<|im_start|>assistant\n");
  CHECK(qwen3().rewrites());
  const auto kept = qwen3({}, true);
  CHECK_FALSE(kept.rewrites());
  CHECK_THAT(text_of(kept, two_turns), Contains("assistant\n<think>\nAha.\n</think>\n\nuno"));
  auto grown = kept.prompt(words(), {two_turns[0]});
  for (const auto id : kept.answer(words(), two_turns[1].content)) grown.push_back(id);
  for (const auto id : kept.next(words(), two_turns[2])) grown.push_back(id);
  CHECK(grown == kept.prompt(words(), two_turns));
}

TEST_CASE("conversation format: without thinking only the next answer begins with empty thoughts") {
  const std::string empty = "<think>\n\n</think>\n\n";
  const auto off = qwen3(false);
  CHECK(off.rewrites());
  const auto text = text_of(off, two_turns);
  CHECK(text.ends_with("assistant\n" + empty));
  CHECK(text.find(empty) == text.size() - empty.size());
  const auto kept = text_of(qwen3(false, true), {{"user", "a"}, {"assistant", "b"}, {"user", "c"}});
  CHECK_THAT(kept, Contains("assistant\n" + empty + "b"));
}

TEST_CASE("conversation format: templates without thoughts go on as they began") {
  for (const auto* name : {"smollm2", "qwen2.5"}) {
    const conversation_format format{.style = testing::style_named(name), .end = end()};
    CHECK_FALSE(format.rewrites());
    auto off = format;
    off.chat.thinking = false;
    CHECK(off.prompt(words(), two_turns) == format.prompt(words(), two_turns));
  }
}

TEST_CASE("conversation format: kept thoughts need answers that are each followed by a message") {
  CHECK_THROWS_WITH(
      qwen3({}, true).prompt(words(), {{"user", "a"}, {"assistant", "b"}, {"assistant", "c"}}),
      Contains("each answer is followed by one message"));
}

TEST_CASE("chat templates: the default of thinking stands before the template, once") {
  const std::string jinja = "{{ messages }}";
  const auto off = with_thinking(jinja, false);
  CHECK(off.ends_with(jinja));
  CHECK_THAT(off, Contains("enable_thinking = false"));
  CHECK(without_thinking(off).first == jinja);
  CHECK(without_thinking(off).second.value() == false);
  CHECK(with_thinking(off, true) == with_thinking(jinja, true));
  CHECK(without_thinking(jinja).first == jinja);
  CHECK_FALSE(without_thinking(jinja).second.has_value());
}

TEST_CASE("chat templates: a base model has none, and what is no text is refused") {
  const temporary_folder folder;
  CHECK_FALSE(find_chat_style(folder.path).has_value());
  const auto config = folder.path / "tokenizer_config.json";
  write_durably(config, R"({"eos_token": "x"})");
  CHECK_FALSE(find_chat_style(folder.path).has_value());
  CHECK_THROWS_WITH(read_chat_template(folder.path), Contains("it is a base model"));
  write_durably(config, R"({"chat_template": "t"})");
  CHECK(find_chat_style(folder.path).value().source() == "t");
  write_durably(config, R"({"chat_template": 3})");
  CHECK_THROWS_WITH(find_chat_style(folder.path), Contains("/chat_template: expected a text"));
  gguf_bytes file;
  file.begin(0, 1).word("general.architecture", "llama").data(0);
  write_durably(folder.path / "m.gguf", file.bytes);
  CHECK_FALSE(find_chat_style(folder.path / "m.gguf").has_value());
}

/// What reading the tokenizer of a GGUF file with these tokens says; empty if it is read.
std::string refusal_of_gguf(const std::vector<std::string>& special, const std::string& pre,
                            const std::string& architecture = "llama") {
  std::vector<std::string> tokens{"a", "b", "ab"};
  std::vector<std::uint32_t> kinds{1, 1, 1};
  for (const auto& each : special) {
    tokens.push_back(each);
    kinds.push_back(3);
  }
  gguf_bytes file;
  file.begin(0, pre.empty() ? 6 : 7)
      .word("general.architecture", architecture)
      .word("tokenizer.ggml.model", "gpt2")
      .words("tokenizer.ggml.tokens", tokens)
      .wholes("tokenizer.ggml.token_type", kinds)
      .words("tokenizer.ggml.merges", {"a b"})
      .whole("tokenizer.ggml.bos_token_id", 3);
  if (!pre.empty()) file.word("tokenizer.ggml.pre", pre);
  file.data(0);
  const temporary_folder folder;
  write_durably(folder.path / "m.gguf", file.bytes);
  return testing::message_of<llm_file_error>([&] { read_tokenizer(folder.path / "m.gguf"); });
}

TEST_CASE("tokenizer: a GGUF file without the name of its split is read by its family's tokens") {
  CHECK(refusal_of_gguf({"<|begin_of_text|>", "<|eot_id|>"}, "") == "");
  CHECK(refusal_of_gguf({"<|begin_of_text|>", "<|eot_id|>"}, "default") == "");
  CHECK(refusal_of_gguf({"<|endoftext|>", "<|im_start|>"}, "", "qwen2") == "");
  CHECK(refusal_of_gguf({"<|begin_of_text|>"}, "llama3") == "");
  CHECK_THAT(refusal_of_gguf({"<|endoftext|>", "<|im_start|>"}, ""),
             Contains("tokenizer.ggml.pre") && Contains("convert the model again"));
  CHECK_THAT(refusal_of_gguf({"<|eot_id|>"}, "other"), Contains("got \"other\""));
}

}  // namespace
}  // namespace troupe::llm
