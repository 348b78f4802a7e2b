#pragma once
// Rows of a table.

#include <cstdint>
#include <span>

#include "actors/gradients/node.hpp"

namespace troupe::detail {

/// The rows of a table [n, columns] whose numbers are `chosen`. A row may be chosen several times.
class embedding_node final : public graph_node {
 public:
  void forward(graph_node& table, std::span<const std::int64_t> chosen);
  void backward() override;

 private:
  graph_node* table_ = nullptr;
  std::span<const std::int64_t> chosen_;
};

}  // namespace troupe::detail
