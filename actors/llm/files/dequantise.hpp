#pragma once

#include <span>
#include <string_view>

#include "actors/llm/files/tensor_type.hpp"

namespace troupe::llm {

/// Writes the values of stored elements as floats. `bytes` are whole blocks of `type`, `to` holds
/// their elements. False for an integer type; nothing is written then. The blocks' layouts are
/// ggml's (llama.cpp, ggml-common.h).
bool dequantise(tensor_type type, std::string_view bytes, std::span<float> to);

}  // namespace troupe::llm
