#pragma once
// The log-probabilities and entropies of actions.

#include "actors/gradients/node.hpp"
#include "actors/networks/action_head.hpp"

namespace troupe::detail {

/// The log-probability and the entropy of each row's actions, [rows, 2], by an action_head.
class action_terms_node final : public graph_node {
 public:
  /// `log_std` is null where the head has no continuous actions.
  void forward(const action_head& head, graph_node& outputs, graph_node* log_std,
               const action_rows& actions);
  void backward() override;

 private:
  log_std_rows log_stds() const;

  const action_head* head_ = nullptr;
  graph_node* outputs_ = nullptr;
  graph_node* log_std_ = nullptr;
  action_rows actions_;
  choice_buffers choices_;
  float_block terms_;  // [2, rows] log-probabilities, then entropies
  float_block d_outputs_, d_log_std_;
};

}  // namespace troupe::detail
