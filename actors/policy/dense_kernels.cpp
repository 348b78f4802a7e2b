#include "actors/policy/dense_kernels.hpp"

#include <algorithm>
#include <stdexcept>

#include "actors/policy/activation_kernels.hpp"
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

TROUPE_CPU_CLONES void tanh_all(index count, float* y) {
  for (index i = 0; i < count; ++i) y[i] = activated<activation::tanh>(y[i]);
}
TROUPE_CPU_CLONES void relu_all(index count, float* y) {
  for (index i = 0; i < count; ++i) y[i] = activated<activation::relu>(y[i]);
}
TROUPE_CPU_CLONES void elu_all(index count, float* y) {
  for (index i = 0; i < count; ++i) y[i] = activated<activation::elu>(y[i]);
}
TROUPE_CPU_CLONES void leaky_relu_all(index count, float* y) {
  for (index i = 0; i < count; ++i) y[i] = activated<activation::leaky_relu>(y[i]);
}
TROUPE_CPU_CLONES void silu_all(index count, float* y) {
  for (index i = 0; i < count; ++i) y[i] = activated<activation::silu>(y[i]);
}

TROUPE_CPU_CLONES void tanh_backward(index count, const float* y, float* d_y) {
  for (index i = 0; i < count; ++i) d_y[i] *= slope_at<activation::tanh>(y[i]);
}
TROUPE_CPU_CLONES void relu_backward(index count, const float* y, float* d_y) {
  for (index i = 0; i < count; ++i) d_y[i] = y[i] > 0.0f ? d_y[i] : 0.0f;
}
TROUPE_CPU_CLONES void elu_backward(index count, const float* y, float* d_y) {
  for (index i = 0; i < count; ++i) d_y[i] *= slope_at<activation::elu>(y[i]);
}
TROUPE_CPU_CLONES void leaky_relu_backward(index count, const float* y, float* d_y) {
  for (index i = 0; i < count; ++i) d_y[i] *= slope_at<activation::leaky_relu>(y[i]);
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
  switch (kind) {
    case activation::tanh:
      return tanh_all(count, y);
    case activation::relu:
      return relu_all(count, y);
    case activation::elu:
      return elu_all(count, y);
    case activation::leaky_relu:
      return leaky_relu_all(count, y);
    case activation::silu:
      return silu_all(count, y);
    case activation::linear:
      return;
  }
}

void activate_backward(activation kind, index count, const float* y, float* d_y) {
  switch (kind) {
    case activation::tanh:
      return tanh_backward(count, y, d_y);
    case activation::relu:
      return relu_backward(count, y, d_y);
    case activation::elu:
      return elu_backward(count, y, d_y);
    case activation::leaky_relu:
      return leaky_relu_backward(count, y, d_y);
    case activation::linear:
      return;
    case activation::silu:
      break;
  }
  throw std::logic_error("activate_backward: silu's derivative does not follow from its result");
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
