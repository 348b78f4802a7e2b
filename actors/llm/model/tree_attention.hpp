#pragma once
// Differentiable attention over packed documents, for packed_forward.

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "actors/llm/model/packed_tokens.hpp"

namespace troupe::llm {

/// Causal attention of packed documents, from q [T, heads, head_dim], k and v [T, kv_heads,
/// head_dim] to [T, heads * head_dim]. It is differentiable and keeps only its inputs; the backward
/// pass computes the attention weights of each document once more.
at::Tensor tree_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                          std::shared_ptr<const std::vector<document_place>> documents);

}  // namespace troupe::llm
