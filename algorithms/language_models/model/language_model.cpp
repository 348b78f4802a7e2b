#include "actors/torch/torch.hpp"

#include "algorithms/language_models/model/language_model.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "actors/checkpoint/durable_file.hpp"
#include "actors/llm/files/json_file.hpp"
#include "actors/llm/files/known_models.hpp"
#include "actors/llm/files/llm_file_error.hpp"
#include "actors/llm/files/safetensors.hpp"
#include "actors/llm/model/flat_weights.hpp"
#include "actors/llm/model/read_adapters.hpp"
#include "actors/llm/model/read_model.hpp"
#include "actors/llm/tasks/byte_model.hpp"
#include "actors/llm/tasks/letters_model.hpp"
#include "actors/llm/tokenizer/byte_tokenizer.hpp"
#include "actors/llm/tokenizer/read_tokenizer.hpp"
#include "actors/llm/tokenizer/write_tokenizer.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/told_once.hpp"

namespace troupe {

namespace {

/// The key of the score in the metadata of a model's file.
constexpr const char* score_note = "score";

/// Writes generation_config.json: the settings that the model came with, and the tokens that end a
/// text. transformers takes these from it and not from config.json.
void write_generation_config(const std::filesystem::path& folder, const llm::model_config& config,
                             const std::string& settings) {
  auto all = nlohmann::ordered_json::parse(settings);
  if (config.eos_tokens.size() == 1)
    all["eos_token_id"] = config.eos_tokens.front();
  else
    all["eos_token_id"] = config.eos_tokens;
  if (config.bos_token) all["bos_token_id"] = *config.bos_token;
  if (config.pad_token) all["pad_token_id"] = *config.pad_token;
  const auto text = all.dump(2) + '\n';
  const std::string_view piece = text;
  replace_durably(folder / "generation_config.json", {&piece, 1});
}

}  // namespace

llm::conversation_format language_model::conversations() const {
  llm::conversation_format made{.style = style, .end = end_id(), .keep_thoughts = keep_thoughts};
  if (thinking) made.chat.thinking = *thinking;
  return made;
}

llm::token_id language_model::end_id() const {
  if (style) {
    if (const auto end = tokens.find(llm::end_of_turn(tokens, *style))) return *end;
  } else if (plain_end) {
    return *plain_end;
  }
  if (config.eos_tokens.empty())
    throw llm::llm_file_error(
        "the model has no token that ends an answer: expected an eos_token_id in config.json or "
        "generation_config.json");
  return static_cast<llm::token_id>(config.eos_tokens.front());
}

std::vector<llm::token_id> language_model::stop_ids() const {
  const auto end = end_id();
  std::vector<llm::token_id> all;
  for (const auto id : config.eos_tokens) {
    if (id != end) all.push_back(static_cast<llm::token_id>(id));
  }
  all.push_back(end);
  return all;
}

std::vector<llm::token_id> language_model::answer_of(const std::string& text) const {
  return conversations().answer(tokens, text);
}

void language_model::write_model(const std::filesystem::path& folder, const at::Tensor& parameters,
                                 std::optional<double> score) const {
  std::map<std::string, std::string> notes;
  if (score) notes[score_note] = fmt::format("{}", *score);
  // The token that training has taught comes first. The others of the model's go on ending a text.
  auto written = config;
  const auto stop = stop_ids();
  written.eos_tokens.assign(stop.rbegin(), stop.rend());
  llm::write_model(folder, written, llm::weights_in(config, parameters), notes);
  const std::string end(tokens.bytes_of(end_id()));
  auto templates = style ? style->templates() : llm::named_templates{};
  if (thinking)
    for (auto& [name, text] : templates) text = llm::with_thinking(text, *thinking);
  llm::write_tokenizer(folder, parts, end, templates, special_tokens);
  write_generation_config(folder, written, generation_config);
}

std::string language_model::describe() const {
  return fmt::format("{} layers of {}, {} heads ({} of keys) of {}, {} tokens", config.layers,
                     config.hidden_size, config.heads, config.kv_heads, config.head_dim,
                     config.vocab_size);
}

std::optional<double> score_of(const std::filesystem::path& folder) {
  const auto metadata = llm::read_safetensors(folder / "model.safetensors").metadata;
  const auto noted = metadata.find(score_note);
  if (noted == metadata.end()) return std::nullopt;
  const auto& text = noted->second;
  double score = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), score);
  return error == std::errc() ? std::optional(score) : std::nullopt;
}

namespace {

/// The generation_config.json of a model, or an empty object.
std::string read_generation_config(const std::filesystem::path& path) {
  const auto file = path / "generation_config.json";
  if (!std::filesystem::is_directory(path) || !std::filesystem::exists(file)) return "{}";
  const auto settings = llm::read_model_json(file);
  return settings.is_object() ? settings.dump() : "{}";
}

/// The folder or file with the network and all its weights: that of the section, or the model of
/// its adapters.
std::filesystem::path base_of(const model_section& section) {
  const std::filesystem::path path = section.path;
  if (!llm::has_adapters_alone(path)) {
    if (std::filesystem::exists(path / "adapter_config.json"))
      log::warn_once("the adapters beside a whole model are not read",
                     {{"file", (path / "adapter_config.json").string()}});
    return path;
  }
  auto base = llm::base_of_adapters(path, llm::path_of_model(section.base_path));
  log::info_once("LoRA adapters are merged into their model",
                 {{"adapters", path.string()}, {"model", base.string()}});
  return base;
}

/// True for the tokens of the letters model, which a run has written.
bool are_letters(const llm::tokenizer& tokens) {
  const llm::tokenizer letters(llm::letters_tokenizer_parts());
  if (tokens.size() != letters.size()) return false;
  for (llm::token_id id = 0; id < letters.size(); ++id) {
    if (tokens.bytes_of(id) != letters.bytes_of(id)) return false;
  }
  return true;
}

/// Gives a base model the token that ends an answer.
void set_plain_end(language_model& model, const std::filesystem::path& path) {
  const auto named = model.special_tokens.find("eos_token");
  if (named != model.special_tokens.end()) model.plain_end = model.tokens.find(named->second);
  try {
    model.end_id();
  } catch (const llm::llm_file_error& e) {
    throw llm::llm_file_error(path.string() + ": " + e.what());
  }
}

/// Says in one line what is not the usual way of a chat model.
void tell_format(const language_model& model, const model_section& section) {
  if (model.is_letters) return;
  if (!model.style) {
    log::info_once(
        section.chat_template == "none"
            ? "the model is asked with plain prompts, without its chat template"
            : "a base model: it has no chat template and is asked with plain prompts",
        {{"model", section.path}, {"end_of_answer", model.tokens.bytes_of(model.end_id())}});
    return;
  }
  if (!section.chat_template.empty())
    log::info_once("the chat template that was asked for",
                   {{"model", section.path}, {"name", model.style->name()}});
  const auto format = model.conversations();
  if (model.keep_thoughts &&
      llm::conversation_format{.style = model.style, .chat = format.chat}.rewrites())
    log::info_once(
        "the thoughts of earlier turns are kept; transformers drops them by the chat template",
        {{"model", section.path}});
  if (model.thinking) return;
  auto without = format.chat;
  without.thinking = false;
  const std::vector<llm::chat_message> asked{{"user", "x"}};
  if (llm::encode_chat(model.tokens, *model.style, asked, format.chat) !=
      llm::encode_chat(model.tokens, *model.style, asked, without))
    log::info_once(
        "the model thinks before it answers; model.thinking=false turns its thoughts off",
        {{"model", section.path}});
}

}  // namespace

language_model language_model_of(const model_section& section) {
  if (section.is_letters()) {
    auto parts = llm::letters_tokenizer_parts();
    return {.config = llm::letters_model(),
            .tokens = llm::tokenizer(parts),
            .parts = std::move(parts),
            .is_letters = true};
  }
  if (section.path.empty()) {
    auto parts = llm::byte_tokenizer_parts();
    return {.config = llm::byte_model({.layers = section.layers,
                                       .hidden_size = section.hidden_size,
                                       .max_positions = section.max_positions}),
            .tokens = llm::tokenizer(parts),
            .style = llm::chat_style::bytes,
            .parts = std::move(parts)};
  }
  const std::filesystem::path path = section.path;
  const auto base = base_of(section);
  auto shape = llm::read_model_shape(base);
  // Adapters may come with a tokenizer and a template of their own.
  const auto words = std::filesystem::exists(path / "tokenizer.json") ? path : base;
  auto parts = llm::read_tokenizer_parts(words);
  language_model made{.config = std::move(shape),
                      .tokens = llm::put_together(parts, words),
                      .parts = std::move(parts),
                      .thinking = section.thinking,
                      .keep_thoughts = section.thoughts == earlier_thoughts::keep};
  made.generation_config = read_generation_config(words);
  const bool is_plain = section.chat_template == "none";
  if (!is_plain) made.style = llm::find_chat_style(words, section.chat_template);
  made.special_tokens = made.style ? made.style->tokens() : llm::read_named_tokens(words);
  if (!is_plain && !made.style && words != base) made.style = llm::find_chat_style(base);
  if (made.style && !made.thinking)
    made.thinking = llm::without_thinking(made.style->source()).second;
  made.is_letters = !made.style && are_letters(made.tokens);
  if (!made.style) set_plain_end(made, path);
  tell_format(made, section);
  return made;
}

namespace {

/// Random weights with a standard deviation of 1 / sqrt(width), since the usual 0.02 is too small
/// for narrow layers.
llm::model_weights random_small_weights(const llm::model_config& config, std::uint64_t seed) {
  auto drawn = llm::random_weights(config, seed);
  const double factor = 50.0 / std::sqrt(double(config.hidden_size));
  llm::for_each_weight(config, drawn, [&](const llm::weight_place& place, at::Tensor& weight) {
    if (place.shape.size() > 1) weight.mul_(factor);
  });
  return drawn;
}

}  // namespace

llm::model_weights first_weights(const model_section& section, const llm::model_config& config,
                                 std::uint64_t seed) {
  if (section.path.empty()) return random_small_weights(config, seed);
  auto read = llm::read_model(base_of(section));
  if (llm::has_adapters_alone(section.path))
    llm::add_adapters(section.path, read.config, read.weights);
  return std::move(read.weights);
}

std::function<void()> weights_check_of(const model_section& section) {
  if (section.path.empty()) return nullptr;
  return [section] { first_weights(section, {}, 0); };
}

}  // namespace troupe
