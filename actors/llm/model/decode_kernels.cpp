#include "actors/llm/model/decode_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "actors/kernels/activation_kernels.hpp"
#include "actors/kernels/lanes.hpp"

namespace troupe::llm {
namespace {

using index = std::ptrdiff_t;
using detail::lane_count;
using detail::lanes;
using detail::lanes_at;

#define TROUPE_UNROLL _Pragma("clang loop unroll(full)")

typedef double double_lanes __attribute__((vector_size(64)));

index whole_blocks(index count) { return (count + lane_count - 1) / lane_count * lane_count; }

// Computes the scores of `rows` queries with `blocks` blocks of 16 keys. The scores of one query
// begin `stride` floats after those of the query before.
template <int rows, int blocks>
TROUPE_ALWAYS_INLINE void score_blocks(const float* q, index head_dim, const float* keys,
                                       float scale, float* scores, index stride) {
  lanes sum[rows][blocks] = {};
  for (index d = 0; d < head_dim; ++d) {
    lanes k[blocks];
    TROUPE_UNROLL
    for (int b = 0; b < blocks; ++b) k[b] = lanes_at(keys + (b * head_dim + d) * lane_count);
    TROUPE_UNROLL
    for (int r = 0; r < rows; ++r) {
      const float x = q[r * head_dim + d];
      TROUPE_UNROLL
      for (int b = 0; b < blocks; ++b) sum[r][b] += x * k[b];
    }
  }
  TROUPE_UNROLL
  for (int r = 0; r < rows; ++r) {
    TROUPE_UNROLL
    for (int b = 0; b < blocks; ++b) {
      lanes_at(scores + r * stride + b * lane_count) = sum[r][b] * scale;
    }
  }
}

template <int rows, int blocks>
TROUPE_ALWAYS_INLINE void score(const float* q, index head_dim, std::span<const seen_tokens> seen,
                                float scale, float* scores, index stride) {
  for (const auto& part : seen) {
    const index end = whole_blocks(part.count);
    index token = 0;
    for (; token + blocks * lane_count <= end; token += blocks * lane_count) {
      score_blocks<rows, blocks>(q, head_dim, part.keys + token * head_dim, scale, scores + token,
                                 stride);
    }
    for (; token < end; token += lane_count) {
      score_blocks<rows, 1>(q, head_dim, part.keys + token * head_dim, scale, scores + token,
                            stride);
    }
    for (int r = 0; r < rows; ++r) {  // missing and later tokens have no weight
      std::fill(scores + r * stride + part.count, scores + r * stride + end,
                -std::numeric_limits<float>::infinity());
    }
    scores += end;
  }
}

// Replaces scores by weights that are not divided by their sum, and returns the sum.
TROUPE_ALWAYS_INLINE float exponentials(float* scores, index count) {
  lanes high = lanes_at(scores);
  for (index i = lane_count; i < count; i += lane_count) {
    const lanes s = lanes_at(scores + i);
    high = s > high ? s : high;
  }
  float most = high[0];
  for (index l = 1; l < lane_count; ++l) most = std::max(most, high[l]);
  for (index i = 0; i < count; ++i) {
    const float below = scores[i] - most;
    const float weight = detail::exp_of(below);
    scores[i] = below < -80.0f ? 0.0f : weight;
  }
  // The sum is in double, so that it is the same float for any split of the tokens into parts.
  double_lanes sums{}, more{};
  for (index i = 0; i < count; i += lane_count) {
    const lanes w = lanes_at(scores + i);
    sums += __builtin_convertvector(__builtin_shufflevector(w, w, 0, 1, 2, 3, 4, 5, 6, 7),
                                    double_lanes);
    more += __builtin_convertvector(__builtin_shufflevector(w, w, 8, 9, 10, 11, 12, 13, 14, 15),
                                    double_lanes);
  }
  sums += more;
  double sum = 0;
  for (int l = 0; l < 8; ++l) sum += sums[l];
  return static_cast<float>(sum);
}

// Sums the values with the weights of `rows` queries, for `vectors` times 16 numbers of a head.
template <int rows, int vectors>
TROUPE_ALWAYS_INLINE void mix(const float* weights, index stride, const float* sums, index head_dim,
                              std::span<const seen_tokens> seen, index begin, float* out) {
  lanes sum[rows][vectors] = {};
  for (const auto& part : seen) {
    for (index token = 0; token < part.count; ++token) {
      const float* value = part.values + token * head_dim + begin;
      lanes v[vectors];
      TROUPE_UNROLL
      for (int i = 0; i < vectors; ++i) v[i] = lanes_at(value + i * lane_count);
      TROUPE_UNROLL
      for (int r = 0; r < rows; ++r) {
        const float w = weights[r * stride + token];
        TROUPE_UNROLL
        for (int i = 0; i < vectors; ++i) sum[r][i] += w * v[i];
      }
    }
    weights += whole_blocks(part.count);
  }
  TROUPE_UNROLL
  for (int r = 0; r < rows; ++r) {
    const float one_over = 1.0f / sums[r];
    TROUPE_UNROLL
    for (int i = 0; i < vectors; ++i) {
      lanes_at(out + r * head_dim + begin + i * lane_count) = sum[r][i] * one_over;
    }
  }
}

template <int rows, int blocks>
TROUPE_ALWAYS_INLINE void attend_rows(const float* q, index head_dim,
                                      std::span<const seen_tokens> seen, index stride, float scale,
                                      float* scores, float* out) {
  score<rows, blocks>(q, head_dim, seen, scale, scores, stride);
  float sums[rows];
  for (int r = 0; r < rows; ++r) sums[r] = exponentials(scores + r * stride, stride);
  index begin = 0;
  for (; begin + blocks * lane_count <= head_dim; begin += blocks * lane_count) {
    mix<rows, blocks>(scores, stride, sums, head_dim, seen, begin, out);
  }
  for (; begin < head_dim; begin += lane_count) {
    mix<rows, 1>(scores, stride, sums, head_dim, seen, begin, out);
  }
}

struct attention {
  const float* q;
  index queries, head_dim;
  std::span<const seen_tokens> seen;
  float scale;
  float* scores;
  float* out;
};

template <int rows, int blocks>
TROUPE_ALWAYS_INLINE void last_queries(const attention& a, index query, index stride) {
  if constexpr (rows > 0) {
    if (a.queries - query != rows) return last_queries<rows - 1, blocks>(a, query, stride);
    attend_rows<rows, blocks>(a.q + query * a.head_dim, a.head_dim, a.seen, stride, a.scale,
                              a.scores + query * stride, a.out + query * a.head_dim);
  }
}

template <int rows, int blocks>
TROUPE_ALWAYS_INLINE void attend_all(const attention& a) {
  index stride = 0;
  for (const auto& part : a.seen) stride += whole_blocks(part.count);
  index query = 0;
  for (; query + rows <= a.queries; query += rows) {
    attend_rows<rows, blocks>(a.q + query * a.head_dim, a.head_dim, a.seen, stride, a.scale,
                              a.scores + query * stride, a.out + query * a.head_dim);
  }
  last_queries<rows - 1, blocks>(a, query, stride);
}

// AVX-512 has 32 registers for 4 x 4 sums of 16 floats. AVX2 has 16 registers, and 2 x 2 sums of 16
// floats take two registers each.
#if TROUPE_HAS_CPU_LEVELS
TROUPE_CPU_V4 void attend_v4(const attention& a) { attend_all<4, 4>(a); }
TROUPE_CPU_V3 void attend_v3(const attention& a) { attend_all<2, 2>(a); }
void attend_any(const attention& a) { attend_all<1, 1>(a); }
const auto attend_widest = troupe::detail::widest_kernel(attend_v4, attend_v3, attend_any);
#else
void attend_widest(const attention& a) { attend_all<1, 1>(a); }
#endif

}  // namespace

TROUPE_CPU_CLONES void rms_norm_rows(const float* x, index rows, index size, const float* weight,
                                     float eps, float* y) {
  for (index row = 0; row < rows; ++row, x += size, y += size) {
    lanes sum{};
    index i = 0;
    for (; i + lane_count <= size; i += lane_count) sum += lanes_at(x + i) * lanes_at(x + i);
    float square = detail::sum_of(sum);
    for (; i < size; ++i) square += x[i] * x[i];
    const float factor = 1.0f / std::sqrt(square / static_cast<float>(size) + eps);
    for (index j = 0; j < size; ++j) y[j] = weight[j] * (x[j] * factor);
  }
}

void angles_of(float position, std::span<const float> frequencies, float factor, float* cosine,
               float* sine) {
  for (std::size_t j = 0; j < frequencies.size(); ++j) {
    const float angle = position * frequencies[j];
    cosine[j] = std::cos(angle) * factor;
    sine[j] = std::sin(angle) * factor;
  }
}

TROUPE_CPU_CLONES void rotate_heads(float* x, index heads, index half, const float* cosine,
                                    const float* sine) {
  for (index head = 0; head < heads; ++head, x += 2 * half) {
    for (index j = 0; j < half; ++j) {
      const float a = x[j], b = x[j + half];
      x[j] = a * cosine[j] - b * sine[j];
      x[j + half] = b * cosine[j] + a * sine[j];
    }
  }
}

TROUPE_CPU_CLONES void gated_rows(const float* x, index rows, index size, float* y) {
  for (index row = 0; row < rows; ++row, x += 2 * size, y += size) {
    for (index i = 0; i < size; ++i) y[i] = detail::silu_of(x[i]) * x[size + i];
  }
}

void attend(const float* q, index queries, index head_dim, std::span<const seen_tokens> seen,
            float scale, float* scores, float* out) {
  attend_widest({q, queries, head_dim, seen, scale, scores, out});
}

}  // namespace troupe::llm
