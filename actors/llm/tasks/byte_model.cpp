#include "actors/llm/tasks/byte_model.hpp"

#include "actors/llm/tasks/letters_model.hpp"
#include "actors/llm/tokenizer/byte_tokenizer.hpp"

namespace troupe::llm {

model_config byte_model(const byte_model_size& size) {
  const auto parts = byte_tokenizer_parts();
  auto config = letters_model();
  config.layers = size.layers;
  config.hidden_size = size.hidden_size;
  config.heads = config.kv_heads = size.hidden_size / config.head_dim;
  // The 8/3 of Llama, in whole blocks of 8.
  config.intermediate_size = (size.hidden_size * 8 / 3 + 7) / 8 * 8;
  config.vocab_size = static_cast<std::int64_t>(parts.tokens.size());
  config.max_positions = size.max_positions;
  config.eos_tokens = {parts.added.front().id};
  return config;
}

}  // namespace troupe::llm
