#pragma once
// A fully connected layer with parameters of each row.

#include "actors/gradients/node.hpp"

namespace troupe::detail {

/// x W + b, where W [n, m] and b [m] are a row of `weight` [rows, n m] and of `bias` [rows, m].
class row_dense_node final : public graph_node {
 public:
  void forward(graph_node& x, graph_node& weight, graph_node& bias);
  void backward() override;

 private:
  void train_weight(const float* d);

  graph_node* x_ = nullptr;
  graph_node* weight_ = nullptr;
  graph_node* bias_ = nullptr;
};

}  // namespace troupe::detail
