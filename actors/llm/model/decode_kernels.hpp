#pragma once

#include <cstddef>
#include <span>

/// A decoder's arithmetic between its products, on rows of floats. A row's result doesn't depend on
/// the other rows.
namespace troupe::llm {

/// y = x / sqrt(mean(x^2) + eps) * weight, for each row of `size`. y may be x.
void rms_norm_rows(const float* x, std::ptrdiff_t rows, std::ptrdiff_t size, const float* weight,
                   float eps, float* y);

/// Cosine and sine [frequencies] of the angles of a token at `position`, times `factor`.
void angles_of(float position, std::span<const float> frequencies, float factor, float* cosine,
               float* sine);

/// Turns the pairs (x[j], x[j + half]) of `heads` heads of 2 * half floats by a token's angles.
void rotate_heads(float* x, std::ptrdiff_t heads, std::ptrdiff_t half, const float* cosine,
                  const float* sine);

/// y[rows, size] = silu(gate) * up, of x[rows, 2 * size] that holds gate and then up.
void gated_rows(const float* x, std::ptrdiff_t rows, std::ptrdiff_t size, float* y);

/// What a token sees of one part of its sequence, for one key head: the layout of kv_segment.
struct seen_tokens {
  const float* keys = nullptr;
  const float* values = nullptr;
  std::ptrdiff_t count = 0;
};

/// out[queries, head_dim] = softmax(q k^T * scale) v of the `queries` heads that share a key head.
/// `scores` has room for queries * (all counts, each rounded up to 16) floats. head_dim is a
/// multiple of 16. The result doesn't depend on how the tokens are cut into parts.
void attend(const float* q, std::ptrdiff_t queries, std::ptrdiff_t head_dim,
            std::span<const seen_tokens> seen, float scale, float* scores, float* out);

}  // namespace troupe::llm
