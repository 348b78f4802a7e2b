#pragma once
// The matrices that a graph begins with.

#include <span>

#include "actors/gradients/node.hpp"

namespace troupe::detail {

/// Numbers that are not trained, in memory of others.
class constant_node final : public graph_node {
 public:
  void forward(std::span<const float> numbers, int columns);
};

/// A matrix of a block of parameters.
class parameter_node final : public graph_node {
 public:
  void forward(const parameter_block& block, std::size_t first, int row_count, int column_count,
               gradient_blocks& blocks);
  void backward() override;

 private:
  parameter_block block_;
  std::size_t first_ = 0;
  gradient_blocks* blocks_ = nullptr;
};

}  // namespace troupe::detail
