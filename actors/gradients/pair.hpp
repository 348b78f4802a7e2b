#pragma once
// Functions of two elements.

#include "actors/gradients/node.hpp"

namespace troupe::detail {

/// The second argument has the size of the first, or is a column or a row for all of them.
class pair_node final : public graph_node {
 public:
  void forward(pair_operation operation, graph_node& x, graph_node& y);
  void backward() override;

 private:
  enum class spread { none, column, row };
  /// Calls f with the index of y's element for each of x, as a function of the row and the column.
  template <class F>
  void with_index(const F& f) const;
  /// Adds the derivative by y: each element's sum of g(i, k) over the elements i of x whose element
  /// of y is k.
  template <class G>
  void add_to_second(const G& g);

  pair_operation operation_ = pair_operation::add;
  spread spread_ = spread::none;
  graph_node* x_ = nullptr;
  graph_node* y_ = nullptr;
};

}  // namespace troupe::detail
