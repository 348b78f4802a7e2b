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
  multiply({.left = x.value,
            .row_stride = x.columns,
            .step_stride = 1,
            .right = y.value,
            .rows = rows,
            .steps = x.columns,
            .columns = columns},
           result);
}

void product_node::backward() {
  const float* d = derivative.data();
  if (x_->is_trained()) {  // dL/dx = dL/dz y^T
    const auto [first, count] = x_->wanted;
    float* transposed = grown(*transposed_, static_cast<std::size_t>(count) * columns);
    transpose(y_->value + static_cast<std::ptrdiff_t>(first) * columns, count, columns, transposed);
    const bool is_first = !x_->has_derivative;
    float* to = x_->open_derivative();
    overwrite_or_add(to, is_first, static_cast<std::size_t>(rows) * count, *sum_, [&](float* z) {
      multiply({.left = d,
                .row_stride = columns,
                .step_stride = 1,
                .right = transposed,
                .rows = rows,
                .steps = columns,
                .columns = count},
               z);
    });
  }
  if (y_->is_trained()) {  // dL/dy = x^T dL/dz
    const bool is_first = !y_->has_derivative;
    float* to = y_->open_derivative();
    overwrite_or_add(to, is_first, y_->size(), *sum_, [&](float* z) {
      multiply({.left = x_->value,
                .row_stride = 1,
                .step_stride = x_->columns,
                .right = d,
                .rows = x_->columns,
                .steps = rows,
                .columns = columns},
               z);
    });
  }
}

}  // namespace troupe::detail
