#pragma once
// Attention over packed documents without gradients, for tree_attention.

#include <cstdint>
#include <vector>

#include "actors/llm/model/packed_tokens.hpp"

namespace troupe::llm {

struct attention_shape {
  std::int64_t heads = 0, kv_heads = 0;
  std::int64_t head_dim = 0;  ///< a multiple of 16
};

/// The queries, keys, values and outputs of T tokens, row by row.
struct attention_rows {
  const float* q;  ///< [T, heads, head_dim]
  const float* k;  ///< [T, kv_heads, head_dim]
  const float* v;  ///< [T, kv_heads, head_dim]
  float* out;      ///< [T, heads, head_dim]
};

/// Computes softmax(q k^T / sqrt(head_dim)) v, where each token attends to what its document sees
/// up to that token. It uses the decoder's kernel and gives the same bits as a decoder. Throws
/// std::invalid_argument for a head_dim that is not a multiple of 16.
void document_attention(const attention_shape& shape, const std::vector<document_place>& documents,
                        const attention_rows& rows);

}  // namespace troupe::llm
