#pragma once
// Functions of single elements.

#include "actors/gradients/node.hpp"

namespace troupe::detail {

class element_node final : public graph_node {
 public:
  void forward(element_operation operation, graph_node& x, float a, float b);
  void backward() override;

 private:
  element_operation operation_ = element_operation::scale;
  graph_node* x_ = nullptr;
  float a_ = 0, b_ = 0;
};

}  // namespace troupe::detail
