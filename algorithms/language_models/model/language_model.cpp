#include "actors/torch/torch.hpp"

#include "algorithms/language_models/model/language_model.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <map>

#include "actors/llm/files/gguf.hpp"
#include "actors/llm/files/safetensors.hpp"
#include "actors/llm/model/flat_weights.hpp"
#include "actors/llm/model/read_model.hpp"
#include "actors/llm/tasks/byte_model.hpp"
#include "actors/llm/tasks/letters_model.hpp"
#include "actors/llm/tokenizer/byte_tokenizer.hpp"
#include "actors/llm/tokenizer/read_tokenizer.hpp"
#include "actors/llm/tokenizer/write_tokenizer.hpp"
#include "runtime/base/log.hpp"

namespace troupe {

namespace {

/// The key of the score in the metadata of a model's file.
constexpr const char* score_note = "score";

}  // namespace

std::vector<llm::token_id> language_model::stop_ids() const {
  std::vector<llm::token_id> all(config.eos_tokens.begin(), config.eos_tokens.end());
  if (!style) return all;
  if (const auto end = tokens.find(llm::end_of_turn(tokens, *style))) all.push_back(*end);
  return all;
}

std::vector<llm::token_id> language_model::answer_of(const std::string& text) const {
  auto ids = tokens.encode(text);
  ids.push_back(stop_ids().back());
  return ids;
}

void language_model::write_model(const std::filesystem::path& folder, const at::Tensor& parameters,
                                 std::optional<double> score) const {
  std::map<std::string, std::string> notes;
  if (score) notes[score_note] = fmt::format("{}", *score);
  llm::write_model(folder, config, llm::weights_in(config, parameters), notes);
  const std::string end(tokens.bytes_of(stop_ids().back()));
  llm::write_tokenizer(folder, parts, end, chat_template,
                       style ? style->tokens() : llm::named_tokens{});
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

language_model language_model_of(const model_section& section) {
  if (section.is_letters()) {
    auto parts = llm::letters_tokenizer_parts();
    return {
        .config = llm::letters_model(), .tokens = llm::tokenizer(parts), .parts = std::move(parts)};
  }
  if (section.path.empty()) {
    auto parts = llm::byte_tokenizer_parts();
    return {.config = llm::byte_model({.layers = section.layers,
                                       .hidden_size = section.hidden_size,
                                       .max_positions = section.max_positions}),
            .tokens = llm::tokenizer(parts),
            .style = llm::chat_style::bytes,
            .parts = std::move(parts),
            .chat_template = std::string(llm::byte_chat_template())};
  }
  const std::filesystem::path path = section.path;
  auto shape = std::filesystem::is_directory(path) ? llm::read_model_config(path / "config.json")
                                                   : llm::read_model_config(llm::gguf_file(path));
  auto parts = llm::read_tokenizer_parts(path);
  auto style = llm::read_chat_style(path, section.chat_template);
  if (!section.chat_template.empty())
    log::info("the model's chat template", {{"name", style.name()}});
  auto chat_template = style.source();
  return {.config = std::move(shape),
          .tokens = llm::put_together(parts, path),
          .style = std::move(style),
          .parts = std::move(parts),
          .chat_template = std::move(chat_template)};
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
  return llm::read_model(section.path).weights;
}

}  // namespace troupe
