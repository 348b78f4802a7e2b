#pragma once
// The conversion of stored tensor elements to floats, for copy_floats (tensor_view.hpp).

#include <span>
#include <string_view>

#include "actors/llm/files/tensor_type.hpp"

namespace troupe::llm {

/// Converts stored elements to floats. `bytes` must be whole blocks of `type`, and `to` must hold
/// their elements. Returns false and writes nothing for an integer type. The layouts of the blocks
/// are ggml's (llama.cpp, ggml-common.h).
bool dequantise(tensor_type type, std::string_view bytes, std::span<float> to);

}  // namespace troupe::llm
