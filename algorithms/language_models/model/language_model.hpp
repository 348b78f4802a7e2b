#pragma once
// The model that learns without its weights, its tokenizer and its chat format.

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "actors/llm/model/model_config.hpp"
#include "actors/llm/model/model_weights.hpp"
#include "actors/llm/tokenizer/chat_template.hpp"
#include "actors/llm/tokenizer/conversation_format.hpp"
#include "actors/llm/tokenizer/tokenizer.hpp"
#include "algorithms/language_models/model/model_section.hpp"

namespace troupe {

/// A model without its weights, and the format of its texts.
struct language_model {
  llm::model_config config;
  llm::tokenizer tokens;
  /// The chat format. None means plain text: the letters model, and base models.
  std::optional<llm::chat_style> style = {};
  llm::tokenizer_parts parts = {};  ///< for write_model
  bool is_letters = false;          ///< true if problems are asked in letters instead of words
  /// The token that ends an answer in plain text. None means the first of config.eos_tokens.
  std::optional<llm::token_id> plain_end = {};
  std::optional<bool> thinking = {};  ///< none means what the chat template does by default
  bool keep_thoughts = false;         ///< see conversation_format
  /// For write_model: the texts of further special tokens by their names, such as bos_token, and
  /// the generation_config.json that the model came with, a JSON object.
  llm::named_tokens special_tokens = {};
  std::string generation_config = "{}";

  /// The format of the model's conversations.
  llm::conversation_format conversations() const;
  /// The token that ends an answer. Training teaches it.
  llm::token_id end_id() const;
  /// All tokens that end an answer. The last is end_id().
  std::vector<llm::token_id> stop_ids() const;
  /// The tokens of a text as an answer, with the token that ends it.
  std::vector<llm::token_id> answer_of(const std::string& text) const;
  /// Writes a folder with the network, these weights [P], the tokenizer and the templates, which
  /// transformers, `troupe chat` and the option model.path can read. They stop at the tokens of
  /// stop_ids(). `score` is the result of the evaluation for which the model is kept, if any.
  /// Throws std::system_error.
  void write_model(const std::filesystem::path& folder, const at::Tensor& parameters,
                   std::optional<double> score = std::nullopt) const;
  /// The shape of the network in words.
  std::string describe() const;
};

/// The score that write_model was given for the model in a folder, if any. Throws llm_file_error.
std::optional<double> score_of(const std::filesystem::path& folder);

/// Reads the model of the section without its weights. With an empty path and no tokens, these
/// are bytes. Logs once how a base model is asked, and whether a model thinks. Throws
/// llm_file_error, also for a model without a token that ends an answer.
language_model language_model_of(const model_section& section);

/// The weights that training begins with: those of the file, with its adapters merged if it has
/// adapters alone, or random ones from the seed. Throws llm_file_error.
llm::model_weights first_weights(const model_section& section, const llm::model_config& config,
                                 std::uint64_t seed);

/// Returns a function that reads the weights of the section's model and keeps none; null if they
/// are drawn. It throws what first_weights throws, before a run has a folder.
std::function<void()> weights_check_of(const model_section& section);

}  // namespace troupe
