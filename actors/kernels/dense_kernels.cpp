#include "actors/kernels/dense_kernels.hpp"

#include <stdexcept>

#include "actors/kernels/activation_kernels.hpp"
#include "actors/kernels/lanes.hpp"

namespace troupe::detail {
namespace {

using index = std::ptrdiff_t;

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

TROUPE_CPU_CLONES void add_rows(index row_count, index columns, const float* __restrict rows,
                                float* __restrict sum) {
  for (index c = 0; c < columns; ++c) sum[c] = 0.0f;
  for (index r = 0; r < row_count; ++r) {
    for (index c = 0; c < columns; ++c) sum[c] += rows[r * columns + c];
  }
}

// Transposes blocks of 16 x 16 in registers: for each k, rows 2^k apart exchange columns 2^k apart.
template <int apart>
TROUPE_ALWAYS_INLINE void exchange(lanes (&block)[16]) {
  for (int r = 0; r < 16; ++r) {
    if (r & apart) continue;
    const lanes a = block[r], b = block[r + apart];
    if constexpr (apart == 8) {
      block[r] =
          __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
      block[r + 8] = __builtin_shufflevector(a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28,
                                             29, 30, 31);
    } else if constexpr (apart == 4) {
      block[r] =
          __builtin_shufflevector(a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
      block[r + 4] =
          __builtin_shufflevector(a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31);
    } else if constexpr (apart == 2) {
      block[r] =
          __builtin_shufflevector(a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
      block[r + 2] =
          __builtin_shufflevector(a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31);
    } else {
      block[r] =
          __builtin_shufflevector(a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
      block[r + 1] =
          __builtin_shufflevector(a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31);
    }
  }
}

// Transposes a matrix of two columns, such as the outputs of a policy with two actions.
TROUPE_ALWAYS_INLINE void part_pairs(const float* matrix, index rows, float* result) {
  index r = 0;
  for (; r + 16 <= rows; r += 16) {
    const lanes a = lanes_at(matrix + 2 * r), b = lanes_at(matrix + 2 * r + 16);
    lanes_at(result + r) =
        __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    lanes_at(result + rows + r) =
        __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
  }
  for (; r < rows; ++r) {
    result[r] = matrix[2 * r];
    result[rows + r] = matrix[2 * r + 1];
  }
}

TROUPE_CPU_CLONES void transpose_blocks(const float* matrix, index rows, index columns,
                                        float* result) {
  if (columns == 2) return part_pairs(matrix, rows, result);
  const index whole_rows = rows / 16 * 16, whole_columns = columns / 16 * 16;
  for (index row = 0; row < whole_rows; row += 16) {
    for (index column = 0; column < whole_columns; column += 16) {
      lanes block[16];
      for (int r = 0; r < 16; ++r) block[r] = lanes_at(matrix + (row + r) * columns + column);
      exchange<8>(block);
      exchange<4>(block);
      exchange<2>(block);
      exchange<1>(block);
      for (int c = 0; c < 16; ++c) lanes_at(result + (column + c) * rows + row) = block[c];
    }
  }
  for (index c = 0; c < columns; ++c) {
    for (index r = c < whole_columns ? whole_rows : 0; r < rows; ++r) {
      result[c * rows + r] = matrix[r * columns + c];
    }
  }
}

}  // namespace

void multiply(const float* x, const float* w, const float* bias, activation kind,
              product_sizes sizes, float* y) {
  multiply({.left = x,
            .row_stride = sizes.in,
            .step_stride = 1,
            .right = w,
            .bias = bias,
            .rows = sizes.rows,
            .steps = sizes.in,
            .columns = sizes.out,
            .relu = kind == activation::relu},
           y);
  if (kind != activation::relu) activate(kind, sizes.rows * sizes.out, y);
}

void derivative_by_right(const float* x, const float* d_y, product_sizes sizes, float* d_w) {
  multiply({.left = x,
            .row_stride = 1,
            .step_stride = sizes.in,
            .right = d_y,
            .rows = sizes.in,
            .steps = sizes.rows,
            .columns = sizes.out},
           d_w);
}

void derivative_by_left(const float* d_y, const float* w, product_sizes sizes,
                        float_block& transposed, float* d_x) {
  float* turned = grown(transposed, static_cast<std::size_t>(sizes.in * sizes.out));
  transpose(w, sizes.in, sizes.out, turned);
  multiply(d_y, turned, nullptr, activation::linear,
           {.rows = sizes.rows, .in = sizes.out, .out = sizes.in}, d_x);
}

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
  add_rows(row_count, columns, rows, sum);
}

void transpose(const float* matrix, index rows, index columns, float* result) {
  transpose_blocks(matrix, rows, columns, result);
}

}  // namespace troupe::detail
