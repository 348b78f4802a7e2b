#pragma once
// Some rows of a matrix.

#include <cstdint>
#include <span>

#include "actors/gradients/node.hpp"

namespace troupe::detail {

/// The rows of x whose numbers are `chosen`, in that order. A row may be chosen several times.
class select_rows_node final : public graph_node {
 public:
  void forward(graph_node& x, std::span<const std::int64_t> chosen);
  void backward() override;

 private:
  graph_node* x_ = nullptr;
  std::span<const std::int64_t> chosen_;
};

}  // namespace troupe::detail
