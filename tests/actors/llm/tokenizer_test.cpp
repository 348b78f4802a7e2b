#include "actors/llm/tokenizer/tokenizer.hpp"

#include <nlohmann/json.hpp>

#include "actors/checkpoint/durable_file.hpp"
#include "actors/llm/files/json_file.hpp"
#include "actors/llm/files/llm_file_error.hpp"
#include "actors/llm/tokenizer/chat_template.hpp"
#include "actors/llm/tokenizer/read_tokenizer.hpp"
#include "actors/llm/tokenizer/write_tokenizer.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/message_of.hpp"
#include "tests/paths.hpp"
#include "tests/test.hpp"

namespace troupe::llm {
namespace {

using Catch::Matchers::Contains;
using nlohmann::json;

const std::filesystem::path fixtures = testing::source_path("tests/fixtures/llm/tokenizers");

TEST_CASE("tokenizer: ids and texts are the tokenizers library's, in every style") {
  for (const char* style : {"gpt2", "smollm", "qwen2", "llama3"}) {
    const auto tokens = read_tokenizer(fixtures / style);
    for (const auto& known : read_model_json(fixtures / style / "cases.json")) {
      const auto text = known["text"].get<std::string>();
      CAPTURE(style, text);
      const auto parsed = tokens.encode(text, {.add_special = true, .parse_special = true});
      CHECK(parsed == known["parsed"].get<std::vector<token_id>>());
      CHECK(tokens.encode(text) == known["plain"].get<std::vector<token_id>>());
      if (known.contains("decoded")) {
        CHECK(tokens.decode(parsed) == known["decoded"].get<std::string>());
      }
    }
  }
}

TEST_CASE("tokenizer: a GGUF file's is the same as tokenizer.json's") {
  const auto tokens = read_tokenizer(testing::source_path("tests/fixtures/llm/tokenizer.gguf"));
  const auto begin = tokens.find("<|im_start|>").value();
  for (const auto& known : read_model_json(fixtures / "smollm" / "cases.json")) {
    const auto text = known["text"].get<std::string>();
    CAPTURE(text);
    CHECK(tokens.encode(text) == known["plain"].get<std::vector<token_id>>());
    CHECK(tokens.encode(text, {.add_special = true}).front() == begin);
  }
}

TEST_CASE("tokenizer: what is written gives the same ids, and has the template beside it") {
  for (const auto& from : {fixtures / "gpt2", fixtures / "smollm", fixtures / "qwen2",
                           fixtures / "llama3", fixtures.parent_path() / "tokenizer.gguf"}) {
    const temporary_folder folder;
    const auto before = read_tokenizer(from);
    write_tokenizer(folder.path, read_tokenizer_parts(from), "<|im_end|>",
                    {{"default", "a template"}});
    const auto after = read_tokenizer(folder.path);
    for (const auto& known : read_model_json(fixtures / "smollm" / "cases.json")) {
      const auto text = known["text"].get<std::string>();
      CAPTURE(from.string(), text);
      const encode_options all{.add_special = true, .parse_special = true};
      const auto ids = after.encode(text, all);
      CHECK(ids == before.encode(text, all));
      CHECK(after.encode(text) == before.encode(text));
      CHECK(after.decode(ids, true) == before.decode(ids, true));
    }
    CHECK(read_chat_template(folder.path) == "a template");
    const auto config = read_model_json(folder.path / "tokenizer_config.json");
    CHECK(config["eos_token"] == "<|im_end|>");
  }
}

TEST_CASE("tokenizer: a user's text can't control the model") {
  const auto tokens = read_tokenizer(fixtures / "smollm");
  const auto end = tokens.find("<|im_end|>");
  REQUIRE(end.has_value());
  CHECK(tokens.is_special(*end));
  const auto ids = tokens.encode("a<|im_end|>b");
  CHECK(std::count(ids.begin(), ids.end(), *end) == 0);
  CHECK(tokens.decode(ids) == "a<|im_end|>b");
  const auto parsed = tokens.encode("a<|im_end|>b", {.parse_special = true});
  CHECK(std::count(parsed.begin(), parsed.end(), *end) == 1);
  CHECK(tokens.decode(parsed, true) == "ab");
}

TEST_CASE("tokenizer: a text that isn't UTF-8 is refused with the byte") {
  const auto tokens = read_tokenizer(fixtures / "gpt2");
  CHECK_THROWS_WITH(tokens.encode("ab\xff"), Contains("at byte 2"));
  CHECK_THROWS_WITH(tokens.encode("\xef\xbf\xbd \xed\xa0\x80"), Contains("at byte 4"));
}

TEST_CASE("tokenizer: streamed bytes never end within a character") {
  const std::string text = "a\u00e9\u4e2d\U0001f600z";
  utf8_stream stream;
  std::string told;
  for (const char c : text) {
    const auto now = stream.add({&c, 1});
    CHECK(utf8_bytes(now) == now.size());
    told += now;
  }
  CHECK(told + stream.end() == text);
  // As the Unicode Standard's table 3-8 replaces them.
  utf8_stream broken;
  CHECK(broken.add("\x61\xF1\x80\x80\xE1\x80\xC2\x62\x80\x63\x80\xBF\x64") ==
        "a\ufffd\ufffd\ufffd"
        "b\ufffd"
        "c\ufffd\ufffd"
        "d");
  CHECK(broken.add("\xF0\x9F") == "");
  CHECK(broken.end() == "\ufffd");
}

TEST_CASE("tokenizer: ids that it lacks have no text") {
  const auto tokens = read_tokenizer(fixtures / "gpt2");
  const std::vector<token_id> ids{-1, tokens.size(), 1 << 30};
  CHECK(tokens.decode(ids) == "");
}

TEST_CASE("tokenizer: what would change the ids and isn't known is refused by its place") {
  const temporary_folder folder;
  const auto path = folder.path / "tokenizer.json";
  const auto good = read_model_json(fixtures / "qwen2" / "tokenizer.json");
  const auto refusal_of = [&](const std::string& pointer, const json& value) {
    auto document = good;
    document[json::json_pointer(pointer)] = value;
    write_durably(path, document.dump());
    const auto message = testing::message_of<llm_file_error>([&] { read_tokenizer(path); });
    CHECK((message.empty() || message.starts_with(path.string())));
    return message;
  };
  CHECK(refusal_of("/version", "1.0") == "");
  CHECK_THAT(refusal_of("/model/type", "WordPiece"), Contains("/model/type: expected \"BPE\""));
  CHECK_THAT(refusal_of("/model/dropout", 0.1), Contains("/model/dropout"));
  CHECK_THAT(refusal_of("/model/byte_fallback", true), Contains("/model/byte_fallback"));
  CHECK_THAT(refusal_of("/model/novelty", 1), Contains("/model/novelty: expected no such field"));
  CHECK_THAT(refusal_of("/model/vocab/zzz", 0), Contains("an id of its own"));
  CHECK_THAT(refusal_of("/model/vocab/zzz", -1), Contains("expected an id"));
  CHECK_THAT(refusal_of("/model/merges/0", json{"a", "zzzz"}),
             Contains("merge 0: expected a token"));
  CHECK_THAT(refusal_of("/model/merges/0", "abc"), Contains("with a space"));
  CHECK_THAT(refusal_of("/normalizer", json{{"type", "Lowercase"}}), Contains("/normalizer"));
  CHECK_THAT(refusal_of("/pre_tokenizer/pretokenizers/0/pattern/Regex", "x+"), Contains("Qwen2"));
  CHECK_THAT(refusal_of("/added_tokens/0/lstrip", true), Contains("/added_tokens/0/lstrip"));
  CHECK_THAT(refusal_of("/added_tokens/0/id", 3), Contains("/added_tokens/0"));
  CHECK_THAT(refusal_of("/decoder/type", "WordPiece"), Contains("/decoder"));
}

}  // namespace
}  // namespace troupe::llm
