#include "actors/llm/model/document_attention.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "actors/kernels/lanes.hpp"
#include "actors/llm/model/decode_kernels.hpp"
#include "actors/llm/model/packed_matrix.hpp"

namespace troupe::llm {
namespace {

using index = std::int64_t;
constexpr index block = detail::lane_count;

index whole_blocks(index count) { return (count + block - 1) / block * block; }

}  // namespace

void document_attention(const attention_shape& s, const std::vector<document_place>& documents,
                        const attention_rows& rows) {
  if (s.head_dim % block != 0)
    throw std::invalid_argument("attention: head_dim: expected a multiple of 16, got " +
                                std::to_string(s.head_dim));
  // The keys and values of one head are laid out as in a kv_segment. The tokens of each document
  // begin at a block.
  index total = 0, room = 0, longest = 0;
  for (const auto& d : documents) total += d.own.count;
  std::vector<index> place(
      static_cast<std::size_t>(total));  // the place of each token in the blocks
  for (const auto& d : documents) {
    for (index i = 0; i < d.own.count; ++i)
      place[static_cast<std::size_t>(d.own.begin + i)] = room + i;
    room += whole_blocks(d.own.count);
    index seen = whole_blocks(d.own.count);
    for (const auto& span : d.seen) seen += whole_blocks(span.count);
    longest = std::max(longest, seen);
  }
  aligned_floats keys(static_cast<std::size_t>(room * s.head_dim)), values(keys.size());
  const index group = s.heads / s.kv_heads;
  aligned_floats scores(static_cast<std::size_t>(group * longest));
  const auto scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(s.head_dim)));
  std::vector<seen_tokens> seen;
  for (index head = 0; head < s.kv_heads; ++head) {
    for (index t = 0; t < total; ++t) {
      const auto slot = place[static_cast<std::size_t>(t)];
      const index from = (t * s.kv_heads + head) * s.head_dim;
      float* key = keys.data() + slot / block * block * s.head_dim + slot % block;
      for (index d = 0; d < s.head_dim; ++d) key[d * block] = rows.k[from + d];
      std::copy_n(rows.v + from, s.head_dim, values.data() + slot * s.head_dim);
    }
    const auto part = [&](const token_span& span, index count) -> seen_tokens {
      const auto begin = place[static_cast<std::size_t>(span.begin)] * s.head_dim;
      return {keys.data() + begin, values.data() + begin, count};
    };
    for (const auto& d : documents) {
      seen.clear();
      for (const auto& span : d.seen) seen.push_back(part(span, span.count));
      seen.push_back({});
      for (index i = 0; i < d.own.count; ++i) {
        seen.back() = part(d.own, i + 1);
        const index at = ((d.own.begin + i) * s.heads + head * group) * s.head_dim;
        attend(rows.q + at, group, s.head_dim, seen, scale, scores.data(), rows.out + at);
      }
    }
  }
}

}  // namespace troupe::llm
