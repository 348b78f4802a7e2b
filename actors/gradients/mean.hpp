#pragma once
// The mean over all rows.

#include <span>

#include "actors/gradients/node.hpp"

namespace troupe::detail {

/// The mean of weight * x for a column x. Its number has double precision.
class mean_node final : public graph_node {
 public:
  void forward(graph_node& x, std::span<const float> weight);
  void backward() override;

 private:
  graph_node* x_ = nullptr;
  std::span<const float> weight_;
};

}  // namespace troupe::detail
