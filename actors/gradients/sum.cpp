#include "actors/gradients/sum.hpp"

#include "actors/gradients/size_checks.hpp"

namespace troupe::detail {

void sum_node::forward(graph_node& x, std::span<const float> weight, int count) {
  require_column(x.rows, x.columns, weight);
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
