#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "actors/llm/model/packed_tokens.hpp"

namespace troupe::llm {

/// Causal attention of packed documents: q [T, heads, head_dim], k and v [T, kv_heads, head_dim];
/// gives [T, heads * head_dim]. Only the inputs are kept for the gradient: the attention weights of
/// a document are computed once more when its turn comes.
at::Tensor tree_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                          std::shared_ptr<const std::vector<document_place>> documents);

}  // namespace troupe::llm
