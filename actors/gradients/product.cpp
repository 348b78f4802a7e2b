#include "actors/gradients/product.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "actors/gradients/overwrite_or_add.hpp"
#include "actors/kernels/dense_kernels.hpp"

namespace troupe::detail {

void product_node::forward(graph_node& x, graph_node& y, float_block& transposed,
                           float_block& sum) {
  if (x.columns != y.rows) {
    throw std::invalid_argument(
        fmt::format("graph: a product of matrices [{}, {}] and [{}, {}], expected as many columns "
                    "of the first as rows of the second",
                    x.rows, x.columns, y.rows, y.columns));
  }
  x_ = &x;
  y_ = &y;
  transposed_ = &transposed;
  sum_ = &sum;
  float* result = resize(x.rows, y.columns);
  want(x.is_trained() || y.is_trained());
  multiply(x.value, y.value, nullptr, activation::linear,
           {.rows = rows, .in = x.columns, .out = columns}, result);
}

void product_node::backward() {
  const float* d = derivative.data();
  if (x_->is_trained()) {  // dL/dx = dL/dz y^T
    const auto [first, count] = x_->wanted;
    const float* right = y_->value + static_cast<std::ptrdiff_t>(first) * columns;
    const bool is_first = !x_->has_derivative;
    float* to = x_->open_derivative();
    overwrite_or_add(to, is_first, static_cast<std::size_t>(rows) * count, *sum_, [&](float* z) {
      derivative_by_left(d, right, {.rows = rows, .in = count, .out = columns}, *transposed_, z);
    });
  }
  if (y_->is_trained()) {  // dL/dy = x^T dL/dz
    float* all = grown(*sum_, y_->size());
    derivative_by_right(x_->value, d, {.rows = rows, .in = x_->columns, .out = columns}, all);
    add_derivative(*y_, [=](std::ptrdiff_t i) { return all[i]; });
  }
}

}  // namespace troupe::detail
