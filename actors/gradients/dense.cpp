#include "actors/gradients/dense.hpp"

#include "actors/gradients/overwrite_or_add.hpp"
#include "actors/kernels/dense_kernels.hpp"

namespace troupe::detail {

void dense_node::forward(graph_node& x, const parameter_block& block, const dense_layer& layer,
                         activation kind, gradient_blocks& blocks, float_block& transposed,
                         float_block& sum) {
  x_ = &x;
  block_ = block;
  layer_ = layer;
  kind_ = kind;
  blocks_ = &blocks;
  transposed_ = &transposed;
  sum_ = &sum;
  blocks.use(block);
  float* y = resize(x.rows, layer.out);
  want(x.is_trained() || !block.gradient.empty());
  multiply(x.value, block.values.data() + layer.weight, block.values.data() + layer.bias, kind,
           {.rows = rows, .in = layer.in, .out = layer.out}, y);
}

void dense_node::backward() {
  float* d = derivative.data();
  if (kind_ != activation::linear) {
    activate_backward(kind_, static_cast<std::ptrdiff_t>(size()), value, d);
  }
  if (!block_.gradient.empty()) train_layer(d);
  if (x_->is_trained()) carry_to_input(d);
}

/// dL/dW = x^T dL/dy, dL/db = the sum of dL/dy over the rows.
void dense_node::train_layer(const float* d) const {
  const auto weights = static_cast<std::size_t>(layer_.in) * layer_.out;
  const auto weight = blocks_->part(block_, layer_.weight, weights);
  overwrite_or_add(weight.to, weight.is_first, weights, *sum_, [&](float* to) {
    derivative_by_right(x_->value, d, {.rows = rows, .in = layer_.in, .out = layer_.out}, to);
  });
  const auto count = static_cast<std::size_t>(layer_.out);
  const auto bias = blocks_->part(block_, layer_.bias, count);
  overwrite_or_add(bias.to, bias.is_first, count, *sum_,
                   [&](float* to) { sum_rows(d, rows, layer_.out, to); });
}

/// dL/dx = dL/dy W^T, for the columns of x that are wanted.
void dense_node::carry_to_input(const float* d) const {
  const auto [first, count] = x_->wanted;
  const auto skipped = static_cast<std::size_t>(first) * layer_.out;
  const float* weight = block_.values.data() + layer_.weight + skipped;
  const bool is_first = !x_->has_derivative;
  float* to = x_->open_derivative();
  overwrite_or_add(to, is_first, static_cast<std::size_t>(rows) * count, *sum_, [&](float* place) {
    derivative_by_left(d, weight, {.rows = rows, .in = count, .out = layer_.out}, *transposed_,
                       place);
  });
}

}  // namespace troupe::detail
