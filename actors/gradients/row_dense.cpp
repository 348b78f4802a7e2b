#include "actors/gradients/row_dense.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace troupe::detail {

namespace {

/// Adds the product of each row of x and of w to y [rows], which a layer with one output has.
void add_products(const graph_node& x, const float* w, float* y) {
  const float* from = x.value;
  for (int row = 0; row < x.rows; ++row, from += x.columns, w += x.columns) {
    float sum = y[row];
    for (int i = 0; i < x.columns; ++i) sum += from[i] * w[i];
    y[row] = sum;
  }
}

}  // namespace

void row_dense_node::forward(graph_node& x, graph_node& weight, graph_node& bias) {
  if (weight.rows != x.rows || bias.rows != x.rows || weight.columns != x.columns * bias.columns) {
    throw std::invalid_argument(fmt::format(
        "graph: a layer of the rows of [{}, {}] with weights [{}, {}] and biases [{}, {}], "
        "expected as many rows, and weights for each pair of columns",
        x.rows, x.columns, weight.rows, weight.columns, bias.rows, bias.columns));
  }
  x_ = &x;
  weight_ = &weight;
  bias_ = &bias;
  float* y = resize(x.rows, bias.columns);
  want(x.is_trained() || weight.is_trained() || bias.is_trained());
  std::copy_n(bias.value, size(), y);
  const float* w = weight.value;
  if (columns == 1) return add_products(x, w, y);
  for (int row = 0; row < rows; ++row, y += columns) {
    for (int i = 0; i < x.columns; ++i, w += columns) {
      const float here = x.value[static_cast<std::ptrdiff_t>(row) * x.columns + i];
      for (int k = 0; k < columns; ++k) y[k] += here * w[k];
    }
  }
}

/// dL/dW = x^T dL/dy in each row.
void row_dense_node::train_weight(const float* d) {
  const float* x = x_->value;
  if (weight_->wanted.count < weight_->columns) {
    return add_derivative_by_rows(*weight_, [=, this](std::ptrdiff_t row, int column) {
      return d[row * columns + column % columns] * x[row * x_->columns + column / columns];
    });
  }
  const bool overwrite = !weight_->has_derivative;
  float* to = weight_->open_derivative();
  for (std::ptrdiff_t row = 0; row < rows; ++row, d += columns) {
    for (int i = 0; i < x_->columns; ++i, ++x, to += columns) {
      for (int k = 0; k < columns; ++k) to[k] = d[k] * *x + (overwrite ? 0.0f : to[k]);
    }
  }
}

void row_dense_node::backward() {
  const float* d = derivative.data();
  const int inputs = x_->columns;
  add_derivative(*bias_, [=](std::ptrdiff_t i) { return d[i]; });
  if (columns == 1) {
    const float* x = x_->value;
    const float* w = weight_->value;
    add_derivative_by_rows(*weight_, [=](auto row, int i) { return d[row] * x[row * inputs + i]; });
    add_derivative_by_rows(*x_, [=](auto row, int i) { return d[row] * w[row * inputs + i]; });
    return;
  }
  train_weight(d);
  add_derivative_by_rows(*x_, [this, d, inputs](std::ptrdiff_t row, int input) {
    const float* w = weight_->value + (row * inputs + input) * columns;
    const float* d_row = d + row * columns;
    float sum = 0;
    for (int k = 0; k < columns; ++k) sum += d_row[k] * w[k];
    return sum;
  });
}

}  // namespace troupe::detail
