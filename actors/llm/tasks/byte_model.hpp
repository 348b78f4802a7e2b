#pragma once
// The bytes model: a small language model that reads any text, byte by byte, and begins with random
// weights. It learns small datasets and text worlds in minutes.

#include <cstdint>

#include "actors/llm/model/model_config.hpp"

namespace troupe::llm {

/// The size of a bytes model. With these numbers it has 0.83 million weights.
struct byte_model_size {
  int layers = 4;
  int hidden_size = 128;  ///< a multiple of 32, the size of a head
  std::int64_t max_positions = 1024;
};

/// The shape of a bytes model: Llama with the tokens of byte_tokenizer_parts.
model_config byte_model(const byte_model_size& size = {});

}  // namespace troupe::llm
