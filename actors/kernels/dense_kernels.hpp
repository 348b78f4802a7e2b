#pragma once
// The arithmetic of small fully connected layers, for mlp and state_dependent_noise.

#include <cstddef>

#include "actors/kernels/activation.hpp"
#include "actors/kernels/float_block.hpp"

/// The functions work on plain row-major blocks of floats. At the sizes of classic control
/// (4-64-64-2) a libtorch operator spends most of its time on overhead, which these loops don't
/// have. Each element of a result is summed in the same order for any number of rows, so one
/// observation gives the same numbers alone and in a batch.
namespace troupe::detail {

/// A product result[rows, columns] = left x right[steps, columns] + bias[columns]. The bias may be
/// null. The element of `left` in row r and step s is left[r * row_stride + s * step_stride].
struct product {
  const float* left = nullptr;
  std::ptrdiff_t row_stride = 0;
  std::ptrdiff_t step_stride = 0;
  const float* right = nullptr;
  const float* bias = nullptr;
  std::ptrdiff_t rows = 0;
  std::ptrdiff_t steps = 0;
  std::ptrdiff_t columns = 0;
  bool relu = false;  ///< negative elements become 0
};
void multiply(const product& p, float* result);

/// The sizes of a product y = x w of matrices x[rows, in] and w[in, out], such as that of a layer.
struct product_sizes {
  std::ptrdiff_t rows = 0;
  std::ptrdiff_t in = 0;
  std::ptrdiff_t out = 0;
};
/// Writes y[rows, out] = activation(x w + bias[out]). The bias may be null.
void multiply(const float* x, const float* w, const float* bias, activation kind,
              product_sizes sizes, float* y);
/// Writes dL/dw = x^T dL/dy.
void derivative_by_right(const float* x, const float* d_y, product_sizes sizes, float* d_w);
/// Writes dL/dx = dL/dy w^T. `transposed` is a work buffer.
void derivative_by_left(const float* d_y, const float* w, product_sizes sizes,
                        float_block& transposed, float* d_x);

/// Applies the activation in place. tanh and elu are within 2e-7 of the exact value. NaN stays NaN.
void activate(activation kind, std::ptrdiff_t count, float* y);

/// Multiplies d_y by f'(x), which is computed from the activation's result `y`. Throws
/// std::logic_error for silu, whose derivative is no function of its result.
void activate_backward(activation kind, std::ptrdiff_t count, const float* y, float* d_y);

/// Writes sum[columns], the column sums of rows[rows, columns].
void sum_rows(const float* rows, std::ptrdiff_t row_count, std::ptrdiff_t columns, float* sum);

/// Writes result[columns, rows], the transpose of matrix[rows, columns].
void transpose(const float* matrix, std::ptrdiff_t rows, std::ptrdiff_t columns, float* result);

}  // namespace troupe::detail
