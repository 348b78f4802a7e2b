#include "actors/llm/tasks/letters_model.hpp"

namespace troupe::llm {
namespace {

constexpr std::string_view letters = "0123456789+-*=>abcdef";

}  // namespace

tokenizer_parts letters_tokenizer_parts() {
  tokenizer_parts parts;
  parts.tokens.emplace_back();  // the place of the added token
  for (const char letter : letters) parts.tokens.emplace_back(1, letter);
  parts.added.push_back({.id = 0, .text = "<end>", .special = true});
  return parts;
}

tokenizer letters_tokenizer() { return tokenizer(letters_tokenizer_parts()); }

model_config letters_model() {
  model_config config;
  config.hidden_size = 128;
  config.intermediate_size = 344;
  config.layers = 4;
  config.heads = config.kv_heads = 4;
  config.head_dim = 32;
  config.vocab_size = 1 + static_cast<std::int64_t>(letters.size());
  config.max_positions = 64;
  config.rms_norm_eps = 1e-5;
  config.tied_embeddings = true;
  config.eos_tokens = {0};
  return config;
}

}  // namespace troupe::llm
