#pragma once
// The log-probabilities and entropies of actions.

#include "actors/gradients/node.hpp"
#include "actors/networks/action_head.hpp"

namespace troupe::detail {

/// The log-probability of each row's actions, by an action_head. The entropy is computed with it;
/// an entropy_node has it.
class action_terms_node final : public graph_node {
 public:
  /// `log_std` is null where the head has no continuous actions.
  void forward(const action_head& head, graph_node& outputs, graph_node* log_std,
               const action_rows& actions);
  void backward() override;

  /// [rows]
  const float* entropy() const { return entropy_.data(); }
  /// Takes the derivatives by the entropies [rows], which `backward` reads.
  void take_entropy_derivative(const float* derivatives);

 private:
  log_std_rows log_stds() const;

  const action_head* head_ = nullptr;
  graph_node* outputs_ = nullptr;
  graph_node* log_std_ = nullptr;
  action_rows actions_;
  choice_buffers choices_;
  float_block entropy_;               // [rows]
  const float* d_entropy_ = nullptr;  // [rows]; null if the loss does not depend on it
  float_block zeros_;
  float_block d_outputs_, d_log_std_;
};

/// The entropy of each row's actions.
class entropy_node final : public graph_node {
 public:
  void forward(action_terms_node& terms);
  void backward() override;

 private:
  action_terms_node* terms_ = nullptr;
};

}  // namespace troupe::detail
