#pragma once
// Functions of a row.

#include <cstdint>
#include <vector>

#include "actors/gradients/node.hpp"

namespace troupe::detail {

/// Returns the column of the largest of `columns` numbers, the first of equal ones.
int index_of_largest(const float* row, int columns);
/// Returns the column of the smallest of `columns` numbers, the first of equal ones.
int index_of_smallest(const float* row, int columns);

/// The sum, the mean, the smallest or the largest element of each row.
class rows_node final : public graph_node {
 public:
  void forward(row_operation operation, graph_node& x);
  void backward() override;

 private:
  row_operation operation_ = row_operation::sum;
  graph_node* x_ = nullptr;
  std::vector<int> chosen_;  // of min and max
};

/// The logarithm of each row's softmax.
class log_softmax_node final : public graph_node {
 public:
  void forward(graph_node& x);
  void backward() override;

 private:
  graph_node* x_ = nullptr;
};

/// The columns of the largest elements among those that are allowed. It has no derivative.
class argmax_node final : public graph_node {
 public:
  void forward(const graph_node& x, std::span<const float> allowed);
  std::span<const std::int64_t> chosen() const { return chosen_; }

 private:
  std::vector<std::int64_t> chosen_;
};

}  // namespace troupe::detail
