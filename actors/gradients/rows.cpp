#include "actors/gradients/rows.hpp"

#include <algorithm>
#include <cmath>

#include "actors/gradients/size_checks.hpp"
#include "actors/networks/allowed_choices.hpp"

namespace troupe::detail {

int index_of_largest(const float* row, int columns) {
  return static_cast<int>(std::max_element(row, row + columns) - row);
}

int index_of_smallest(const float* row, int columns) {
  return static_cast<int>(std::min_element(row, row + columns) - row);
}

void rows_node::forward(row_operation operation, graph_node& x) {
  operation_ = operation;
  x_ = &x;
  float* y = resize(x.rows, 1);
  want(x.is_trained());
  const bool chooses = operation == row_operation::min || operation == row_operation::max;
  chosen_.resize(chooses ? x.rows : 0);
  const float* row = x.value;
  for (int i = 0; i < rows; ++i, row += x.columns) {
    if (chooses) {
      chosen_[i] = operation == row_operation::max ? index_of_largest(row, x.columns)
                                                   : index_of_smallest(row, x.columns);
      y[i] = row[chosen_[i]];
      continue;
    }
    float sum = 0;
    for (int k = 0; k < x.columns; ++k) sum += row[k];
    y[i] = operation == row_operation::mean ? sum / static_cast<float>(x.columns) : sum;
  }
}

void rows_node::backward() {
  const float* d = derivative.data();
  switch (operation_) {
    case row_operation::sum:
      return add_derivative_by_rows(*x_, [&](std::ptrdiff_t row, int) { return d[row]; });
    case row_operation::mean:
      return add_derivative_by_rows(*x_, [&, count = static_cast<float>(x_->columns)](
                                             std::ptrdiff_t row, int) { return d[row] / count; });
    case row_operation::min:
    case row_operation::max:
      return add_derivative_by_rows(*x_, [&](std::ptrdiff_t row, int column) {
        return chosen_[row] == column ? d[row] : 0.0f;
      });
  }
}

void log_softmax_node::forward(graph_node& x) {
  x_ = &x;
  float* y = resize(x.rows, x.columns);
  want(x.is_trained());
  const float* row = x.value;
  for (int i = 0; i < rows; ++i, row += columns, y += columns) {
    const float largest = *std::max_element(row, row + columns);
    float sum = 0;
    for (int k = 0; k < columns; ++k) sum += std::exp(row[k] - largest);
    const float log_sum = largest + std::log(sum);
    for (int k = 0; k < columns; ++k) y[k] = row[k] - log_sum;
  }
}

void log_softmax_node::backward() {
  const float* d = derivative.data();
  std::ptrdiff_t summed = -1;
  float sum = 0;
  add_derivative_by_rows(*x_, [&](std::ptrdiff_t row, int column) {
    const float* d_row = d + row * columns;
    if (summed != row) {
      sum = 0;
      for (int k = 0; k < columns; ++k) sum += d_row[k];
      summed = row;
    }
    return d_row[column] - std::exp(value[row * columns + column]) * sum;
  });
}

void argmax_node::forward(const graph_node& x, std::span<const float> allowed) {
  require_flags(x.rows, x.columns, allowed);
  rows = x.rows;
  columns = 0;
  chosen_.resize(x.rows);
  for (int i = 0; i < x.rows; ++i) {
    const auto first = static_cast<std::ptrdiff_t>(i) * x.columns;
    chosen_[i] = best_allowed(x.value + first, allowed.empty() ? nullptr : allowed.data() + first,
                              x.columns);
  }
}

}  // namespace troupe::detail
