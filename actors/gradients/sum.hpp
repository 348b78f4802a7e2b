#pragma once
// The sum and the mean over all rows.

#include <span>

#include "actors/gradients/node.hpp"

namespace troupe::detail {

/// The sum of weight * x for a column x, divided by a count. Its number has double precision.
class sum_node final : public graph_node {
 public:
  /// The mean has the count x.rows, the sum 1.
  void forward(graph_node& x, std::span<const float> weight, int count);
  void backward() override;

 private:
  graph_node* x_ = nullptr;
  std::span<const float> weight_;
  int count_ = 1;
};

}  // namespace troupe::detail
