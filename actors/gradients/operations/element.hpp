#pragma once
// Functions of single elements.

#include "actors/gradients/node.hpp"

namespace troupe::detail {

class element_node final : public node {
 public:
  void forward(element_operation operation, node& x, float a, float b);
  void backward() override;

 private:
  element_operation operation_ = element_operation::scale;
  node* x_ = nullptr;
  float a_ = 0, b_ = 0;
};

}  // namespace troupe::detail
