#pragma once
// The product of two matrices.

#include "actors/gradients/node.hpp"

namespace troupe::detail {

class product_node final : public node {
 public:
  /// `transposed` and `sum` are work buffers that the nodes of a graph share.
  void forward(node& x, node& y, float_block& transposed, float_block& sum);
  void backward() override;

 private:
  node* x_ = nullptr;
  node* y_ = nullptr;
  float_block* transposed_ = nullptr;
  float_block* sum_ = nullptr;
};

}  // namespace troupe::detail
