#include "actors/policy/dense_kernels.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "actors/policy/cpu_clones.hpp"

namespace troupe::detail {
namespace {

using index = std::ptrdiff_t;

// Sixteen floats that the compiler maps to the registers of each clone; may lie at any address.
typedef float lanes __attribute__((vector_size(64), aligned(4)));
constexpr index lane_count = 16;
constexpr index tile_rows = 6;  // 6 x 16 sums just fit into the registers of AVX2

TROUPE_ALWAYS_INLINE lanes& at(float* p) { return *reinterpret_cast<lanes*>(p); }
TROUPE_ALWAYS_INLINE const lanes& at(const float* p) { return *reinterpret_cast<const lanes*>(p); }

template <int rows>
TROUPE_ALWAYS_INLINE void lane_tile(const product& p, index row, index column, float* result) {
  lanes sum[rows];
  for (auto& s : sum) s = p.bias ? at(p.bias + column) : lanes{};
  const float* left = p.left + row * p.row_stride;
  const float* right = p.right + column;
  for (index step = 0; step < p.steps; ++step) {
    const lanes w = at(right);
    for (int r = 0; r < rows; ++r) sum[r] += left[r * p.row_stride] * w;
    left += p.step_stride;
    right += p.columns;
  }
  for (int r = 0; r < rows; ++r) at(result + (row + r) * p.columns + column) = sum[r];
}

template <int rows>
TROUPE_ALWAYS_INLINE void single_tile(const product& p, index row, index column, float* result) {
  float sum[rows];
  for (auto& s : sum) s = p.bias ? p.bias[column] : 0.0f;
  const float* left = p.left + row * p.row_stride;
  const float* right = p.right + column;
  for (index step = 0; step < p.steps; ++step) {
    const float w = *right;
    for (int r = 0; r < rows; ++r) sum[r] += left[r * p.row_stride] * w;
    left += p.step_stride;
    right += p.columns;
  }
  for (int r = 0; r < rows; ++r) result[(row + r) * p.columns + column] = sum[r];
}

template <int rows>
TROUPE_ALWAYS_INLINE void row_block(const product& p, index row, float* result) {
  index column = 0;
  for (; column + lane_count <= p.columns; column += lane_count) {
    lane_tile<rows>(p, row, column, result);
  }
  for (; column < p.columns; ++column) single_tile<rows>(p, row, column, result);
}

// tanh x = (e^2x - 1) / (e^2x + 1), with e^2x - 1 = 2^k (e^r - 1) + (2^k - 1) where
// 2x = k ln 2 + r and |r| <= ln(2)/2: e^r - 1 from its Taylor series is then exact to float.
TROUPE_ALWAYS_INLINE float tanh_of(float x) {
  constexpr float limit = 9.02f;  // tanh is 1 in float from here
  x = x > limit ? limit : x;      // this way round, NaN stays NaN
  x = x < -limit ? -limit : x;
  const float y = 2.0f * x;
  constexpr float rounder = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
  const float shifted = y * 1.44269504f + rounder;
  const float k = shifted - rounder;
  const float r = (y - k * 0.693359375f) + k * 2.12194440e-4f;  // ln 2 in two parts
  const float tail =
      1.0f / 2 +
      r * (1.0f / 6 + r * (1.0f / 24 + r * (1.0f / 120 + r * (1.0f / 720 + r * (1.0f / 5040)))));
  const float exp_minus_one = r + r * r * tail;
  const auto exponent = (std::bit_cast<std::uint32_t>(shifted) << 23) + (127u << 23);
  const float scale = std::bit_cast<float>(exponent);
  const float t = scale * exp_minus_one + (scale - 1.0f);
  return t / (t + 2.0f);
}

TROUPE_CPU_CLONES void tanh_all(index count, float* y) {
  for (index i = 0; i < count; ++i) y[i] = tanh_of(y[i]);
}

TROUPE_CPU_CLONES void tanh_backward(index count, const float* y, float* d_y) {
  for (index i = 0; i < count; ++i) d_y[i] *= 1.0f - y[i] * y[i];
}

TROUPE_CPU_CLONES void multiply_blocks(const product& p, float* result) {
  index row = 0;
  for (; row + tile_rows <= p.rows; row += tile_rows) row_block<tile_rows>(p, row, result);
  if (row + 4 <= p.rows) {
    row_block<4>(p, row, result);
    row += 4;
  }
  for (; row < p.rows; ++row) row_block<1>(p, row, result);
}

}  // namespace

void multiply(const product& p, float* result) { multiply_blocks(p, result); }

void activate(activation kind, index count, float* y) {
  if (kind == activation::tanh) {
    tanh_all(count, y);
  } else {
    for (index i = 0; i < count; ++i) y[i] = y[i] < 0.0f ? 0.0f : y[i];
  }
}

void activate_backward(activation kind, index count, const float* y, float* d_y) {
  if (kind == activation::tanh) {
    tanh_backward(count, y, d_y);
  } else {
    for (index i = 0; i < count; ++i) d_y[i] = y[i] > 0.0f ? d_y[i] : 0.0f;
  }
}

void sum_rows(const float* rows, index row_count, index columns, float* sum) {
  std::fill_n(sum, columns, 0.0f);
  for (index r = 0; r < row_count; ++r) {
    for (index c = 0; c < columns; ++c) sum[c] += rows[r * columns + c];
  }
}

void transpose(const float* matrix, index rows, index columns, float* result) {
  for (index r = 0; r < rows; ++r) {
    for (index c = 0; c < columns; ++c) result[c * rows + r] = matrix[r * columns + c];
  }
}

}  // namespace troupe::detail
