#include "actors/gradients/sum.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace troupe::detail {

void sum_node::forward(graph_node& x, std::span<const float> weight, int count) {
  if (x.columns != 1 || (!weight.empty() && weight.size() != x.size())) {
    throw std::invalid_argument(
        fmt::format("graph: a mean or sum of a matrix [{}, {}] with {} weights, "
                    "expected a column, and a weight a row or none",
                    x.rows, x.columns, weight.size()));
  }
  x_ = &x;
  weight_ = weight;
  count_ = count;
  float* y = resize(1, 1);
  want(x.is_trained());
  double sum = 0;
  for (int row = 0; row < x.rows; ++row) {
    sum += weight.empty() ? x.value[row] : static_cast<double>(weight[row]) * x.value[row];
  }
  number = sum / count;
  *y = static_cast<float>(number);
}

void sum_node::backward() {
  const float share = derivative[0] * (1.0f / static_cast<float>(count_));
  if (weight_.empty()) return add_derivative(*x_, [=](std::ptrdiff_t) { return share; });
  add_derivative(*x_, [&](std::ptrdiff_t row) { return share * weight_[row]; });
}

}  // namespace troupe::detail
