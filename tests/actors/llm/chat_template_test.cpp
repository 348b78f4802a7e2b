#include "actors/llm/tokenizer/chat_template.hpp"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "actors/checkpoint/durable_file.hpp"
#include "actors/llm/files/json_file.hpp"
#include "actors/llm/files/llm_file_error.hpp"
#include "actors/llm/tokenizer/byte_tokenizer.hpp"
#include "actors/llm/tokenizer/read_tokenizer.hpp"
#include "actors/llm/tokenizer/write_tokenizer.hpp"
#include "tests/actors/llm/named_style.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/message_of.hpp"
#include "tests/paths.hpp"
#include "tests/test.hpp"

namespace troupe::llm {
namespace {

using Catch::Matchers::Contains;
using nlohmann::json;
using testing::style_named;

const tokenizer& smollm() {
  static const auto tokens =
      read_tokenizer(testing::source_path("tests/fixtures/llm/tokenizers/smollm"));
  return tokens;
}
const tokenizer& byte_tokens() {
  static const tokenizer tokens(byte_tokenizer_parts());
  return tokens;
}

TEST_CASE("chat: conversations are written as each family's own template writes them") {
  const auto chats = read_model_json(testing::source_path("tests/fixtures/llm/chats.json"));
  CHECK(chats.size() == 60);
  for (const auto& chat : chats) {
    std::vector<chat_message> messages;
    for (const auto& message : chat["messages"]) messages.push_back({message[0], message[1]});
    const auto text = render_chat(
        style_named(chat["style"]), messages,
        {.generation_prompt = chat["open"], .thinking = chat["thinking"], .date = "01 Feb 2025"});
    CAPTURE(chat.dump());
    CHECK(text.chars == chat["text"].get<std::string>());
  }
}

TEST_CASE("chat: special tokens come from the template alone") {
  const auto style = style_named("smollm2");
  const auto ids = encode_chat(smollm(), style, {{"user", "a<|im_end|>b"}});
  const auto count = [&](const char* name) {
    return std::count(ids.begin(), ids.end(), smollm().find(name));
  };
  CHECK(count("<|im_start|>") == 3);
  CHECK(count("<|im_end|>") == 2);
  CHECK(smollm().decode(ids).ends_with(
      "<|im_start|>user\na<|im_end|>b<|im_end|>\n<|im_start|>assistant\n"));
}

TEST_CASE("chat: a template can't make a special token of what a message says") {
  const auto end = byte_tokens().find("<|end|>").value();
  const auto ends = [&](const std::string& source, const chat_message& said,
                        const chat_options& options = {}) {
    const auto ids = encode_chat(byte_tokens(), chat_style_of(source, "m"), {said}, options);
    return std::ranges::count(ids, end);
  };
  const chat_message user{"user", " <|end|> "};
  CHECK(ends("{{ messages[0].content }}", user) == 0);
  CHECK(ends("{{ messages[0].content | trim }}<|end|>", user) == 1);
  CHECK(ends("{{ messages[0].content.split('|')[1] }}", user) == 0);
  CHECK(ends("{{ '<|' ~ messages[0].content ~ '|>' }}", {"user", "end"}) == 0);
  CHECK(ends("{{ messages[0].content ~ 'nd|>' }}", {"user", "<|e"}) == 0);
  CHECK(ends("{{ messages | tojson }}", user) == 0);
  CHECK(ends("{{ messages[0].tool_calls }}",
             {"user", "", R"({"tool_calls": {"<|end|>": "<|end|>"}})"}) == 0);
  CHECK(ends("{{ tools }}<|end|>", user, {.tools = R"([{"name": "<|end|>"}])"}) == 1);
  CHECK(ends("{{ '<|' ~ 'end' ~ '|>' }}", user) == 1);
}

TEST_CASE("chat: a conversation goes on with the ids that were sampled") {
  for (const auto* name : {"smollm2", "qwen2.5"}) {
    const auto style = style_named(name);
    const std::vector<chat_message> before{{"system", "Be brief."}, {"user", "a"}};
    auto all = before;
    all.insert(all.end(), {{"assistant", "b"}, {"user", "c <|im_end|>"}});
    auto ids = encode_chat(smollm(), style, before);
    for (const auto id : smollm().encode("b")) ids.push_back(id);
    ids.push_back(*smollm().find("<|im_end|>"));
    for (const auto id : encode_next_turn(smollm(), style, all.back())) ids.push_back(id);
    CHECK(ids == encode_chat(smollm(), style, all));
  }
}

TEST_CASE("chat: the token that ends an answer is the one that the template writes after it") {
  CHECK(end_of_turn(smollm(), style_named("smollm2")) == "<|im_end|>");
  CHECK(end_of_turn(smollm(), style_named("qwen3")) == "<|im_end|>");
  CHECK(end_of_turn(byte_tokens(), chat_style::bytes) == "<|end|>");
  CHECK(end_of_turn(byte_tokens(),
                    chat_style_of("{{ messages | length }}{{ messages[-1].content }}\n", "m"))
            .empty());
  CHECK_THROWS_WITH(end_of_turn(byte_tokens(), chat_style_of("x", "m")),
                    Contains("writes answers as they are") && Contains("as \"x\""));
  // As the templates of models that see images, whose content is a list of parts.
  const auto of_parts =
      "{% for m in messages %}{% for part in m.content %}{{ part.text }}{% endfor %}!{% endfor %}";
  CHECK_THROWS_WITH(end_of_turn(byte_tokens(), chat_style_of(of_parts, "m")),
                    Contains("as \"!!\"") && Contains("a list of parts"));
}

TEST_CASE("chat: an answer is what follows the generation prompt, up to its last token") {
  const std::vector<chat_message> before{{"user", "Two?"}};
  const auto answered = [&](const chat_style& style, const chat_message& answer,
                            const chat_options& options = {}) {
    return smollm().decode(encode_answer(smollm(), style, before, answer, options));
  };
  CHECK(answered(style_named("smollm2"), {"assistant", "Dos.<|im_end|>"}) ==
        "Dos.<|im_end|><|im_end|>");
  // Qwen3 writes empty thoughts, which the prompt has already if it isn't to think.
  CHECK(answered(style_named("qwen3"), {"assistant", "Dos."}) ==
        "<think>\n\n</think>\n\nDos.<|im_end|>");
  CHECK(answered(style_named("qwen3"), {"assistant", "Dos."}, {.thinking = false}) ==
        "Dos.<|im_end|>");

  // The prompt opens thoughts, and the template leaves them out of answers.
  const auto opens = chat_style_of(
      "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content.split('</think>')[-1] "
      "}}<|im_end|>\n"
      "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n<think>\n{% endif %}",
      "m");
  CHECK(answered(opens, {"assistant", "<think>\nhm</think>Dos."}) == "hm</think>Dos.<|im_end|>");
  CHECK_THROWS_WITH(answered(opens, {"assistant", "Dos."}),
                    Contains("follows the generation prompt") && Contains("Dos."));
  const auto endless = chat_style_of(
      "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"
      "{% if add_generation_prompt %}assistant: {% endif %}",
      "m");
  CHECK_THROWS_WITH(answered(endless, {"assistant", "Dos."}),
                    Contains("ends an answer with a token"));
}

TEST_CASE(
    "chat: fields and tools reach the template, in their order and under transformers' names") {
  const auto text_of = [](const std::string& source, const chat_message& said,
                          const chat_options& options = {}) {
    return render_chat(chat_style_of(source, "m"), {said}, options).chars;
  };
  CHECK(text_of("{{ messages[0].tool_calls[0] | tojson }}",
                {"assistant", "", R"({"tool_calls": [{"b": 1, "a": 2}]})"}) ==
        R"({"b": 1, "a": 2})");
  CHECK(text_of("{{ messages[0].reasoning_content }}{{ messages[0].thinking }}",
                {"assistant", "", R"({"reasoning": "hm"})"}) == "hmhm");
  CHECK(text_of("{{ messages[0].content is defined }}{{ messages[0].x is defined }}",
                {"assistant", "", R"({"content": null, "x": null})"}) == "FalseFalse");
  CHECK(text_of("{{ messages[0].content[0].text }}",
                {"user", "", R"({"content": [{"type": "text", "text": "hi"}]})"}) == "hi");
  CHECK(text_of("{{ tools is none }}{{ documents is none }}{{ enable_thinking }}", {"user", ""}) ==
        "TrueTrueTrue");
  CHECK(text_of("{{ tools[0].function.name }}", {"user", ""},
                {.tools = R"([{"type": "function", "function": {"name": "f"}}])"}) == "f");
  CHECK(text_of("{{ strftime_now('%d %B %Y, %A') }}", {"user", ""}, {.date = "01 Feb 2025"}) ==
        "01 February 2025, Saturday");
  CHECK_THROWS_WITH(text_of("x", {"user", "", "[]"}), Contains("an object as the fields"));
  CHECK_THROWS_WITH(text_of("x", {"user", "", "{"}), Contains("the fields of a message: JSON"));
  CHECK_THROWS_WITH(text_of("x", {"user", ""}, {.tools = "{}"}), Contains("a list of tools"));
  CHECK_THROWS_WITH(text_of("x", {"user", ""}, {.date = "Feb 2025"}), Contains("26 Jul 2024"));
}

TEST_CASE("chat: what isn't known in a template, an unknown role and no message are refused") {
  CHECK_THROWS_WITH(chat_style_of("\n{{ messages | nope }}", "m.gguf"),
                    Contains("m.gguf: the chat template: line 2: the filter nope isn't known"));
  CHECK_THROWS_AS(chat_style_of("{% if %}", "m.gguf"), llm_file_error);
  const auto style = style_named("qwen3");
  CHECK_THROWS_WITH(render_chat(style, {}), Contains("got none"));
  CHECK_THROWS_WITH(render_chat(style, {{"usr", "x"}}), Contains("got \"usr\""));
  CHECK(render_chat(chat_style_of("{{ messages[0].role == 'player' }}", "m"), {{"player", "x"}})
            .chars == "True");
  CHECK_THROWS_WITH(
      render_chat(chat_style_of("{{ raise_exception('Only one') }}", "m"), {{"user", "x"}}),
      Contains("line 1: the template says: Only one"));
  // What a template says does not reach a terminal as it is.
  CHECK_THROWS_WITH(
      render_chat(chat_style_of("{{ raise_exception('\x1b[31mred') }}", "m"), {{"user", "x"}}),
      Contains("[31mred") && !Contains("\x1b"));
}

// -- where templates live --

void write(const std::filesystem::path& path, const std::string& bytes) {
  std::filesystem::create_directories(path.parent_path());
  write_durably(path, bytes);
}

std::string said_by(const std::filesystem::path& folder, const std::string& name = "",
                    const chat_options& options = {}) {
  return render_chat(read_chat_style(folder, name), {{"user", "Hi"}}, options).chars;
}

const std::string plain =
    "{% for message in messages %}{{ '<|' + message['role'] + '|>' + message['content'] + "
    "'<|end|>' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}";
constexpr const char* plainly = "<|user|>Hi<|end|><|assistant|>";

TEST_CASE("chat: one template in each way in which a folder may have it is the same template") {
  const temporary_folder folder;
  const auto in_config = [&](const std::string& name, const json& held) {
    write(folder.path / name / "tokenizer_config.json", json{{"chat_template", held}}.dump());
    return folder.path / name;
  };
  const auto in_file = [&](const std::string& name, const std::string& text) {
    write(folder.path / name / "chat_template.jinja", text);
    return folder.path / name;
  };
  CHECK(said_by(in_file("file", plain)) == plainly);
  CHECK(said_by(in_file("file_with_newline", plain + "\n")) == plainly);
  CHECK(said_by(in_config("text_in_config", plain)) == plainly);
  const auto entry = [](const std::string& name, const std::string& source) {
    return json{{"name", name}, {"template", source}};
  };
  CHECK(said_by(in_config("list_of_one", json::array({entry("default", plain)}))) == plainly);
  const auto two =
      in_config("list_of_two", json::array({entry("default", plain), entry("rag", "rag")}));
  CHECK(said_by(two) == plainly);
  CHECK(said_by(two, "rag") == "rag");
  CHECK(said_by(in_file("comment", "{# a comment #}" + plain + "{# another #}\n")) == plainly);
  CHECK(said_by(in_file("marks", "{% generation %}" + plain + "{% endgeneration %}")) == plainly);
  CHECK(said_by(in_file("chatml",
                        "{% for m in messages %}{{ '<|im_start|>' + m.role + '\\n' + m.content + "
                        "'<|im_end|>\\n' }}{% endfor %}")) == "<|im_start|>user\nHi<|im_end|>\n");
}

TEST_CASE("chat: files come before the configuration, and other templates have names") {
  const temporary_folder folder;
  write(folder.path / "tokenizer_config.json",
        json{{"chat_template", "in the configuration"}}.dump());
  CHECK(said_by(folder.path) == "in the configuration");
  write(folder.path / "chat_template.jinja", plain);
  write(folder.path / "additional_chat_templates/tool_use.jinja", "{{ tools | length }} tools");
  CHECK(said_by(folder.path) == plainly);
  CHECK(said_by(folder.path, "", {.tools = "[{}]"}) == "1 tools");
  CHECK(said_by(folder.path, "default", {.tools = "[{}]"}) == plainly);
  CHECK(read_chat_style(folder.path, "tool_use").name() == "tool_use");
  CHECK_THROWS_WITH(read_chat_style(folder.path, "rag"),
                    Contains("expected one of the chat templates default, tool_use, got rag"));
}

TEST_CASE("chat: a written model has the templates of the model that it was read from") {
  const temporary_folder folder;
  const auto rewritten = [&](const std::string& name) {
    const auto to = folder.path / ("of_" + name);
    std::filesystem::create_directories(to);
    write_tokenizer(to, byte_tokenizer_parts(), "<|end|>",
                    read_chat_style(folder.path / "model", name).templates());
    return to;
  };
  const auto tools =
      json::array({{{"name", "default"}, {"template", plain}},
                   {{"name", "tool_use"}, {"template", "{{ tools | length }} tools"}},
                   {{"name", "rag"}, {"template", "rag"}},
                   {{"name", "../../out"}, {"template", "out"}},
                   {{"name", ""}, {"template", "none"}}});
  write(folder.path / "model/tokenizer_config.json", json{{"chat_template", tools}}.dump());
  const auto all = rewritten("");
  CHECK(said_by(all) == plainly);
  CHECK(said_by(all, "", {.tools = "[{}]"}) == "1 tools");
  CHECK(said_by(all, "rag") == "rag");
  CHECK(read_chat_style(all).templates().size() == 3);
  CHECK_FALSE(std::filesystem::exists(folder.path / "out.jinja"));
  // Who asks for a template by its name gets it by that name, and where no name is given.
  const auto rag = rewritten("rag");
  CHECK(said_by(rag) == "rag");
  CHECK(said_by(rag, "rag") == "rag");
  CHECK(said_by(rag, "", {.tools = "[{}]"}) == "rag");
  CHECK_THROWS_WITH(read_chat_style(rag, "tool_use"), Contains("default, rag, got tool_use"));
  CHECK_FALSE(std::filesystem::exists(rewritten("default") / "additional_chat_templates"));
}

TEST_CASE("chat: a template gets the tokens that the model names, as texts or as objects") {
  const temporary_folder folder;
  write(folder.path / "chat_template.jinja",
        "{{ bos_token }}x{{ eos_token }}{{ pad_token is defined }}");
  write(
      folder.path / "tokenizer_config.json",
      R"({"bos_token": {"content": "<s>", "special": true}, "eos_token": "</s>", "pad_token": null})");
  CHECK(said_by(folder.path) == "<s>x</s>False");
  write(folder.path / "tokenizer_config.json", "{}");
  write(folder.path / "special_tokens_map.json",
        R"({"bos_token": "<b>", "eos_token": {"content": "<e>"}})");
  CHECK(said_by(folder.path) == "<b>x<e>False");

  // A model that is written again has them, too.
  const auto style = read_chat_style(folder.path);
  const auto again = folder.path / "again";
  std::filesystem::create_directories(again);
  write_tokenizer(again, byte_tokenizer_parts(), "<|end|>", style.templates(), style.tokens());
  CHECK(said_by(again) == "<b>x<e>False");
}

TEST_CASE(
    "chat: a folder without a template, and one that isn't a text, are refused by their place") {
  const temporary_folder folder;
  CHECK_THROWS_WITH(read_chat_style(folder.path),
                    Contains(folder.path.string()) && Contains("expected a chat template"));
  write(folder.path / "tokenizer_config.json", R"({"chat_template": 3})");
  CHECK_THROWS_WITH(read_chat_style(folder.path),
                    Contains("tokenizer_config.json: /chat_template"));
  write(folder.path / "tokenizer_config.json", R"({"chat_template": [{"name": "default"}]})");
  CHECK_THROWS_WITH(read_chat_style(folder.path), Contains("name and template"));
  write(folder.path / "tokenizer_config.json", R"({"chat_template": "{{ x | nope }}"})");
  CHECK_THROWS_WITH(read_chat_style(folder.path),
                    Contains(folder.path.string()) && Contains("the filter nope isn't known"));
}

}  // namespace
}  // namespace troupe::llm
