#pragma once
// The mean over all rows.

#include <span>

#include "actors/gradients/node.hpp"

namespace troupe::detail {

/// The mean of weight * x for a column x. Its number has double precision.
class mean_node final : public node {
 public:
  void forward(node& x, std::span<const float> weight);
  void backward() override;

 private:
  node* x_ = nullptr;
  std::span<const float> weight_;
};

}  // namespace troupe::detail
