#pragma once
// A fully connected layer with its activation.

#include "actors/gradients/node.hpp"
#include "actors/networks/mlp.hpp"

namespace troupe::detail {

/// activation(x W + b), with the products of dense_kernels.
class dense_node final : public graph_node {
 public:
  /// `transposed` and `sum` are work buffers that the nodes of a graph share.
  void forward(graph_node& x, const parameter_block& block, const dense_layer& layer,
               activation kind, gradient_blocks& blocks, float_block& transposed, float_block& sum);
  void backward() override;

 private:
  void train_layer(const float* d) const;
  void carry_to_input(const float* d) const;

  graph_node* x_ = nullptr;
  parameter_block block_;
  dense_layer layer_;
  activation kind_ = activation::linear;
  gradient_blocks* blocks_ = nullptr;
  float_block* transposed_ = nullptr;
  float_block* sum_ = nullptr;
};

}  // namespace troupe::detail
