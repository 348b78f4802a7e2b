#pragma once
// Shapes of models that are computed in a moment, one of each family, with all their switches.

#include "actors/llm/model/flat_weights.hpp"
#include "actors/llm/model/model_config.hpp"

namespace troupe::llm {

inline constexpr model_family every_family[] = {model_family::llama, model_family::qwen2,
                                                model_family::qwen3};

inline model_config small_model(model_family family) {
  return {.family = family,
          .hidden_size = 32,
          .intermediate_size = 48,
          .layers = 2,
          .heads = 4,
          .kv_heads = 2,
          .head_dim = 16,
          .vocab_size = 50,
          .max_positions = 64,
          .tied_embeddings = family == model_family::llama,
          .qkv_bias = family == model_family::qwen2,
          .qk_norm = family == model_family::qwen3};
}

/// Weights [P] of a size at which attention and probabilities are far from uniform.
inline at::Tensor lively_weights(const model_config& config) {
  const auto drawn = flatten_weights(config, random_weights(config, 5));
  return at::where(drawn == 1.0, drawn, drawn * 8.0);
}

}  // namespace troupe::llm
