// Base models, and what stands in the folder of a written model.
#include "actors/torch/torch.hpp"

#include "algorithms/language_models/model/language_model.hpp"

#include <nlohmann/json.hpp>
#include <set>

#include "actors/checkpoint/durable_file.hpp"
#include "actors/llm/files/json_file.hpp"
#include "actors/llm/files/llm_file_error.hpp"
#include "actors/llm/model/flat_weights.hpp"
#include "actors/llm/model/read_model.hpp"
#include "algorithms/language_models/grpo/prompt_format.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/algorithms/language_models/chat_model.hpp"
#include "tests/algorithms/language_models/thinking_model.hpp"
#include "tests/message_of.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using Catch::Matchers::Contains;
using nlohmann::json;

/// A chat model in a folder, whose files a test changes.
class model_folder {
 public:
  model_folder() { testing::write_chat_model(path()); }

  std::filesystem::path path() const { return folder_.path / "model"; }
  json read(const char* name) const { return llm::read_model_json(path() / name); }
  void write(const char* name, const json& document) const {
    write_durably(path() / name, document.dump());
  }
  void set(const char* name, const char* key, const json& value) const {
    auto document = read(name);
    document[key] = value;
    write(name, document);
  }
  void make_base() const { std::filesystem::remove(path() / "chat_template.jinja"); }
  language_model model(model_section section = {}) const {
    section.path = path().string();
    return language_model_of(section);
  }
  /// Writes the model again as training would, and gives the new folder's file.
  std::filesystem::path written(const language_model& model) const {
    const auto to = folder_.path / "written";
    const auto weights = llm::read_model(path()).weights;
    model.write_model(to, llm::flatten_weights(model.config, weights));
    return to;
  }

 private:
  temporary_folder folder_;
};

llm::token_id id_of(const language_model& model, const char* token) {
  return model.tokens.find(token).value();
}

TEST_CASE("language model: a base model is asked with plain prompts and ends at its end of text") {
  const model_folder folder;
  folder.make_base();
  folder.set("config.json", "eos_token_id", 400);
  const auto model = folder.model();
  CHECK_FALSE(model.style);
  CHECK_FALSE(model.is_letters);
  CHECK(model.end_id() == id_of(model, "<|endoftext|>"));
  CHECK(model.answer_of("b").back() == model.end_id());

  prompt_format format{folder.model()};
  CHECK(format.prompt_of(llm::problem{.question = "1+2=", .letters = "12>"}) ==
        model.tokens.encode("1+2="));
  format.shots = {{.question = "1+1=", .expected = "2"}};
  CHECK(model.tokens.decode(format.prompt_of(llm::problem{.question = "1+2="})) ==
        "1+1=2<|endoftext|>\n\n1+2=");
  CHECK(format.next_turn({"more"}, false).front() == model.end_id());

  // It stays one when it is written and read again.
  const auto to = folder.written(model);
  CHECK_FALSE(std::filesystem::exists(to / "chat_template.jinja"));
  CHECK(language_model_of({.path = to.string()}).end_id() == model.end_id());
}

TEST_CASE("language model: the end of text is the tokenizer's among several") {
  const model_folder folder;
  folder.make_base();
  folder.set("config.json", "eos_token_id", {401, 400});
  folder.write("tokenizer_config.json", {{"eos_token", {{"content", "<|endoftext|>"}}}});
  const auto model = folder.model();
  CHECK(model.end_id() == 400);
  CHECK(model.stop_ids() == std::vector<llm::token_id>{401, 400});
  CHECK(llm::read_model_config(folder.written(model) / "config.json").eos_tokens ==
        std::vector<std::int64_t>{400, 401});
}

TEST_CASE("language model: a base model without an end of text is refused") {
  const model_folder folder;
  folder.make_base();
  auto config = folder.read("config.json");
  config.erase("eos_token_id");
  folder.write("config.json", config);
  CHECK_THROWS_WITH(folder.model(),
                    Contains("no token that ends an answer") && Contains(folder.path().string()));
}

TEST_CASE("language model: model.chat_template=none asks a chat model with plain prompts") {
  const model_folder folder;
  CHECK(folder.model().style);
  const auto plain = folder.model({.chat_template = "none"});
  CHECK_FALSE(plain.style);
  CHECK_FALSE(language_model_of({.path = folder.written(plain).string()}).style);
}

TEST_CASE("language model: a written model stops where it was trained to stop") {
  const model_folder folder;
  folder.set("config.json", "eos_token_id", 400);
  folder.set("config.json", "pad_token_id", 403);
  folder.write("generation_config.json",
               {{"eos_token_id", {400, 404}}, {"temperature", 0.6}, {"bos_token_id", 401}});
  folder.write("tokenizer_config.json", {{"bos_token", "<|im_start|>"},
                                         {"eos_token", "<|endoftext|>"},
                                         {"pad_token", {{"content", "<tool>"}}}});
  const auto model = folder.model();
  CHECK(model.end_id() == id_of(model, "<|im_end|>"));
  const auto to = folder.written(model);
  const auto read = [&](const char* name) { return llm::read_model_json(to / name); };
  // What the model was taught comes first, and what it had stays.
  for (const char* name : {"config.json", "generation_config.json"}) {
    CAPTURE(name);
    const auto ids = read(name)["eos_token_id"].get<std::vector<int>>();
    CHECK(ids.front() == 402);
    CHECK(std::set<int>(ids.begin(), ids.end()) == std::set<int>{400, 402, 404});
    CHECK(read(name)["bos_token_id"] == 401);
    CHECK(read(name)["pad_token_id"] == 403);
  }
  CHECK(read("generation_config.json")["temperature"] == 0.6);
  const auto words = read("tokenizer_config.json");
  CHECK(words["eos_token"] == "<|im_end|>");
  CHECK(words["bos_token"] == "<|im_start|>");
  CHECK(words["pad_token"] == "<tool>");
}

TEST_CASE("language model: a letters model that a run has written is asked in letters") {
  const temporary_folder folder;
  const auto letters = language_model_of({.tokens = small_model::letters});
  const auto weights = llm::random_weights(letters.config, 3);
  letters.write_model(folder.path, llm::flatten_weights(letters.config, weights));
  const auto read = language_model_of({.path = folder.path.string()});
  CHECK(read.is_letters);
  CHECK(read.stop_ids() == letters.stop_ids());
  const prompt_format format{language_model_of({.path = folder.path.string()})};
  CHECK(format.prompt_of(llm::problem{.question = "What?", .letters = "12>"}) ==
        letters.tokens.encode("12>"));
}

TEST_CASE("language model: the choice of thinking is written with the template, and read again") {
  const temporary_folder folder;
  auto format = testing::thinking_format(false);
  format.config.eos_tokens = {400};
  const std::string source = "{{ messages }}{{ '<|im_end|>' }}";
  format.style = llm::chat_style(source, "m", {}, "default", {{"tool_use", "{{ tools }}"}});
  const auto weights = llm::random_weights(format.config, 3);
  format.write_model(folder.path, llm::flatten_weights(format.config, weights));
  const auto text = llm::read_chat_template(folder.path);
  CHECK(llm::without_thinking(text).second == false);
  CHECK(llm::without_thinking(text).first == source);
  CHECK(llm::without_thinking(llm::read_chat_template(folder.path, "tool_use")).second == false);
  // Without a choice the template is written as it came.
  format.thinking.reset();
  format.write_model(folder.path, llm::flatten_weights(format.config, weights));
  CHECK(llm::read_chat_template(folder.path) == source);
}

TEST_CASE("warm start: practice is learned after the turns as the template writes them") {
  const auto practise = [](action_random&) {
    return std::vector<dialogue_turn>{{{"first"}, {"one"}}, {{"second"}, {"two"}}};
  };
  action_random random(1);
  for (const bool keep : {false, true}) {
    const auto format = testing::thinking_format(false, keep);
    const auto group = practise_replies(format, practise)(random);
    std::vector<llm::chat_message> said{{"user", "first"}};
    const auto first = format.prompt_of(said);
    said.push_back({"assistant", "one"});
    said.push_back({"user", "second"});
    auto whole = group.prompt;
    whole.insert(whole.end(), group.answers.back().begin(), group.answers.back().end());
    auto expected = format.prompt_of(said);
    for (const auto id : format.answer_of("two")) expected.push_back(id);
    CHECK(whole == expected);
    CHECK(group.answers.size() == (keep ? 1 : 2));
    if (keep) CHECK(group.prompt == first);
  }
}

}  // namespace
}  // namespace troupe
