#pragma once
// The product of two matrices.

#include "actors/gradients/node.hpp"

namespace troupe::detail {

class product_node final : public graph_node {
 public:
  /// `transposed` and `sum` are work buffers that the nodes of a graph share.
  void forward(graph_node& x, graph_node& y, float_block& transposed, float_block& sum);
  void backward() override;

 private:
  graph_node* x_ = nullptr;
  graph_node* y_ = nullptr;
  float_block* transposed_ = nullptr;
  float_block* sum_ = nullptr;
};

}  // namespace troupe::detail
