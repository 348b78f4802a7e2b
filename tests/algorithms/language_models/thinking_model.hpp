#pragma once
// A model of random weights with the chat format of Qwen3.

#include <optional>
#include <utility>

#include "actors/llm/tokenizer/read_tokenizer.hpp"
#include "algorithms/language_models/grpo/prompt_format.hpp"
#include "tests/actors/llm/named_style.hpp"
#include "tests/paths.hpp"

namespace troupe::testing {

inline prompt_format thinking_format(std::optional<bool> thinking, bool keep_thoughts = false) {
  const std::filesystem::path words = source_path("tests/fixtures/llm/tokenizers/qwen2");
  auto parts = llm::read_tokenizer_parts(words);
  llm::tokenizer tokens(parts);
  const llm::model_config config{.hidden_size = 32,
                                 .intermediate_size = 48,
                                 .layers = 2,
                                 .heads = 2,
                                 .kv_heads = 2,
                                 .head_dim = 16,
                                 .vocab_size = tokens.size(),
                                 .max_positions = 512,
                                 .tied_embeddings = true};
  return {{.config = config,
           .tokens = std::move(tokens),
           .style = style_named("qwen3"),
           .parts = std::move(parts),
           .thinking = thinking,
           .keep_thoughts = keep_thoughts}};
}

}  // namespace troupe::testing
