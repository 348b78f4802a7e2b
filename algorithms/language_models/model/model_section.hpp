#pragma once
// The configuration section of the language model that learns. Its `describe` function has the
// unit, the range and the meaning of each option.

#include <cstdint>
#include <optional>
#include <string>

#include "runtime/config/config.hpp"

namespace troupe {

/// The tokens of a model that begins with random weights.
enum class small_model {
  letters,  ///< the letters model (actors/llm/tasks/letters_model.hpp)
  bytes,    ///< the bytes model (actors/llm/tasks/byte_model.hpp)
};

/// The thoughts of earlier turns in a conversation.
enum class earlier_thoughts {
  drop,  ///< the chat template decides, and most templates drop them
  keep,  ///< earlier turns keep the tokens that the model wrote
};

/// The model: a path, or the name of one that `troupe models get` has installed. An empty path
/// means a small model with random weights.
struct model_section {
  std::string path = {};
  std::optional<small_model> tokens = {};
  int layers = 4;
  int hidden_size = 128;
  std::int64_t max_positions = 1024;
  std::string system_prompt = {};
  std::string base_path = {};  ///< the model of the adapters that are in `path`
  /// The name of the chat template; "none" asks with plain prompts. Empty means the model's default
  /// template, or none for a base model.
  std::string chat_template = {};
  std::optional<bool> thinking = {};
  earlier_thoughts thoughts = earlier_thoughts::drop;

  bool is_letters() const { return path.empty() && tokens == small_model::letters; }
};

void describe(enum_schema<small_model>& s);
void describe(enum_schema<earlier_thoughts>& s);
void describe(options_schema<model_section>& s);

}  // namespace troupe
