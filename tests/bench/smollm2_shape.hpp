#pragma once

#include "actors/llm/model/model_config.hpp"

namespace troupe::llm {

inline model_config smollm2_135m() {
  return {.family = model_family::llama,
          .hidden_size = 576,
          .intermediate_size = 1536,
          .layers = 30,
          .heads = 9,
          .kv_heads = 3,
          .head_dim = 64,
          .vocab_size = 49152,
          .max_positions = 8192,
          .rms_norm_eps = 1e-5,
          .rope_theta = 100000.0,
          .tied_embeddings = true};
}

}  // namespace troupe::llm
