#pragma once

#include <cstdint>
#include <vector>

#include "actors/llm/model/packed_tokens.hpp"

namespace troupe::llm {

struct attention_shape {
  std::int64_t heads = 0, kv_heads = 0;
  std::int64_t head_dim = 0;  ///< a multiple of 16
};

/// Of T tokens, row by row.
struct attention_rows {
  const float* q;  ///< [T, heads, head_dim]
  const float* k;  ///< [T, kv_heads, head_dim]
  const float* v;  ///< the same
  float* out;      ///< [T, heads, head_dim]
};

/// softmax(q k^T / sqrt(head_dim)) v, each token of what its document sees up to it: the bits that
/// a decoder gives, whose kernel computes it. Throws std::invalid_argument for another head_dim.
void document_attention(const attention_shape& shape, const std::vector<document_place>& documents,
                        const attention_rows& rows);

}  // namespace troupe::llm
