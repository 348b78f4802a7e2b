#pragma once
// Parts of matrices.

#include <cstdint>
#include <span>
#include <vector>

#include "actors/gradients/node.hpp"

namespace troupe::detail {

/// Some columns of a matrix.
class slice_node final : public graph_node {
 public:
  void forward(graph_node& x, int first, int count);
  void backward() override;

 private:
  graph_node* x_ = nullptr;
  int first_ = 0;
};

/// The same numbers in rows of another width.
class reshape_node final : public graph_node {
 public:
  void forward(graph_node& x, int column_count);
  void backward() override;

 private:
  graph_node* x_ = nullptr;
};

/// Matrices beside each other. Of its columns it wants only those from the first to the last part
/// that is trained.
class concat_node final : public graph_node {
 public:
  /// Begins the arguments of a step; `add` appends one.
  void begin() { parts_.clear(); }
  void add(graph_node& part) { parts_.push_back(&part); }
  void forward();
  void backward() override;

 private:
  std::vector<graph_node*> parts_;
};

/// One element of each row.
class gather_node final : public graph_node {
 public:
  void forward(graph_node& x, std::span<const std::int64_t> chosen);
  void backward() override;

 private:
  graph_node* x_ = nullptr;
  std::span<const std::int64_t> chosen_;
};

/// Some rows, in any order.
class select_rows_node final : public graph_node {
 public:
  void forward(graph_node& x, std::span<const std::int64_t> chosen);
  void backward() override;

 private:
  graph_node* x_ = nullptr;
  std::span<const std::int64_t> chosen_;
  float_block d_;
};

}  // namespace troupe::detail
