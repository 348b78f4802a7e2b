#pragma once
// The arithmetic of a decoder between its matrix products, on rows of floats. The result of a row
// doesn't depend on the other rows.

#include <cstddef>
#include <span>

namespace troupe::llm {

/// y = x / sqrt(mean(x^2) + eps) * weight, for each row of `size`. y may be x.
void rms_norm_rows(const float* x, std::ptrdiff_t rows, std::ptrdiff_t size, const float* weight,
                   float eps, float* y);

/// Cosines and sines [frequencies] of the rotary angles of a token at `position`, times `factor`.
void angles_of(float position, std::span<const float> frequencies, float factor, float* cosine,
               float* sine);

/// Rotates the pairs (x[j], x[j + half]) of `heads` heads of 2 * half floats by a token's angles.
void rotate_heads(float* x, std::ptrdiff_t heads, std::ptrdiff_t half, const float* cosine,
                  const float* sine);

/// y[rows, size] = silu(gate) * up, of x[rows, 2 * size] that holds gate and then up.
void gated_rows(const float* x, std::ptrdiff_t rows, std::ptrdiff_t size, float* y);

/// The tokens that a token attends to in one part of its sequence, for one key head, in the layout
/// of kv_segment.
struct seen_tokens {
  const float* keys = nullptr;
  const float* values = nullptr;
  std::ptrdiff_t count = 0;
};

/// out[queries, head_dim] = softmax(q k^T * scale) v for the `queries` heads that share a key head.
/// `scores` must have room for queries * (the sum of all counts, each rounded up to 16) floats.
/// head_dim must be a multiple of 16. The result doesn't depend on how the tokens are split into
/// parts.
void attend(const float* q, std::ptrdiff_t queries, std::ptrdiff_t head_dim,
            std::span<const seen_tokens> seen, float scale, float* scores, float* out);

}  // namespace troupe::llm
