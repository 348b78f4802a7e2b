#pragma once
// A fully connected layer with parameters of each row.

#include "actors/gradients/node.hpp"

namespace troupe::detail {

/// x W + b, where W [n, m] and b [m] are a row of `weight` [rows, n m] and of `bias` [rows, m].
class row_dense_node final : public node {
 public:
  void forward(node& x, node& weight, node& bias);
  void backward() override;

 private:
  void train_weight(const float* d);

  node* x_ = nullptr;
  node* weight_ = nullptr;
  node* bias_ = nullptr;
};

}  // namespace troupe::detail
