#include "actors/gradients/layer_norm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "actors/kernels/dense_kernels.hpp"
#include "actors/kernels/norm_kernels.hpp"

namespace troupe::detail {

void layer_norm_node::forward(graph_node& x, graph_node& scale, graph_node& shift,
                              activation kind) {
  for (const auto* each : {&scale, &shift}) {
    if (each->rows == 1 && each->columns == x.columns) continue;
    throw std::invalid_argument(fmt::format(
        "graph: a layer norm of a matrix [{}, {}] with the scale [{}, {}] and the shift "
        "[{}, {}], expected rows of {}",
        x.rows, x.columns, scale.rows, scale.columns, shift.rows, shift.columns, x.columns));
  }
  x_ = &x;
  scale_ = &scale;
  shift_ = &shift;
  kind_ = kind;
  float* y = resize(x.rows, x.columns);
  want(x.is_trained() || scale.is_trained() || shift.is_trained());
  float* n = grown(normalised_, size());
  of_rows_.resize(rows);
  normalise_rows(x.value, rows, columns, n, grown(inverse_deviations_, rows));
  scale_rows(n, scale.value, shift.value, kind, rows, columns, y);
}

void layer_norm_node::backward() {
  float* d = derivative.data();
  if (kind_ != activation::linear) {
    activate_backward(kind_, static_cast<std::ptrdiff_t>(size()), value, d);
  }
  if (scale_->is_trained()) train_scale(d);
  if (shift_->is_trained()) {
    sum_rows(d, rows, columns, grown(column_sums_, columns));
    add_derivative(*shift_, [this](std::ptrdiff_t k) { return column_sums_[k]; });
  }
  if (x_->is_trained()) carry_to_input(d);
}

/// dL/dscale = the sum of n dL/dy over the rows.
void layer_norm_node::train_scale(const float* d) {
  const float* n = normalised_.data();
  float* sum = grown(column_sums_, columns);
  std::fill_n(sum, columns, 0.0f);
  for (int row = 0; row < rows; ++row, n += columns, d += columns) {
    for (int k = 0; k < columns; ++k) sum[k] += n[k] * d[k];
  }
  add_derivative(*scale_, [=](std::ptrdiff_t k) { return sum[k]; });
}

/// dL/dx = (dL/dn - its mean - n times the mean of n dL/dn) / the deviation, with dL/dn = scale
/// dL/dy and means over the row.
void layer_norm_node::carry_to_input(const float* d) {
  const float* n = normalised_.data();
  const float* scale = scale_->value;
  for (std::ptrdiff_t row = 0; row < rows; ++row) {
    double sum = 0, products = 0;
    for (int k = 0; k < columns; ++k) {
      const double d_n = scale[k] * d[row * columns + k];
      sum += d_n;
      products += d_n * n[row * columns + k];
    }
    of_rows_[row].mean = static_cast<float>(sum / columns);
    of_rows_[row].mean_product = static_cast<float>(products / columns);
  }
  add_derivative_by_rows(*x_, [=, this](std::ptrdiff_t row, int k) {
    const auto& [mean, mean_product] = of_rows_[row];
    const auto i = row * columns + k;
    return inverse_deviations_[row] * (scale[k] * d[i] - mean - n[i] * mean_product);
  });
}

}  // namespace troupe::detail
