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
  multiply({.left = x.value,
            .row_stride = layer.in,
            .step_stride = 1,
            .right = block.values.data() + layer.weight,
            .bias = block.values.data() + layer.bias,
            .rows = x.rows,
            .steps = layer.in,
            .columns = layer.out,
            .relu = kind == activation::relu},
           y);
  if (kind != activation::relu) activate(kind, static_cast<std::ptrdiff_t>(size()), y);
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
    multiply({.left = x_->value,
              .row_stride = 1,
              .step_stride = layer_.in,
              .right = d,
              .rows = layer_.in,
              .steps = rows,
              .columns = layer_.out},
             to);
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
  float* transposed = grown(*transposed_, static_cast<std::size_t>(count) * layer_.out);
  transpose(block_.values.data() + layer_.weight + skipped, count, layer_.out, transposed);
  const bool is_first = !x_->has_derivative;
  float* to = x_->open_derivative();
  overwrite_or_add(to, is_first, static_cast<std::size_t>(rows) * count, *sum_, [&](float* place) {
    multiply({.left = d,
              .row_stride = layer_.out,
              .step_stride = 1,
              .right = transposed,
              .rows = rows,
              .steps = layer_.out,
              .columns = count},
             place);
  });
}

}  // namespace troupe::detail
