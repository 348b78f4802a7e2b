#pragma once
// The loss and gradient of a minibatch. on_policy_learner and coma_learner use it.

#include <memory>
#include <utility>

#include "actors/gradients/policy.hpp"
#include "algorithms/learner/data_parallel.hpp"
#include "algorithms/on_policy/loss.hpp"
#include "algorithms/on_policy/training_rows.hpp"

namespace troupe::detail {

/// Computes the loss of a minibatch and its gradient on the engine of the network's backend. If
/// several ranks share the minibatch, all of them get the loss and gradient of the whole minibatch.
class minibatch_gradient {
 public:
  minibatch_gradient(on_policy_loss loss, const actor_critic& model)
      : loss_(std::move(loss)), graph_(make_graph(model)) {}

  const on_policy_loss& loss() const { return loss_; }
  /// The graph that the losses are computed with. Its steps may be used between those here.
  graph& engine() { return *graph_; }
  /// Sets the ranks that share minibatches from now on.
  void join(rank_group ranks) { ranks_ = std::move(ranks); }

  /// Computes the loss of a minibatch of `rows` rows under the present weights. `of` are the rows
  /// of this rank.
  ppo_loss_metrics evaluate(actor_critic& model, const minibatch& of, std::size_t rows,
                            double progress_remaining);
  /// Overwrites model.gradient() with the gradient. Call it after `evaluate`.
  void differentiate(actor_critic& model);

 private:
  on_policy_loss loss_;
  std::unique_ptr<graph> graph_;
  rank_group ranks_;
  variable result_;     ///< The loss of this rank's rows.
  double share_ = 1.0;  ///< This rank's share of the rows; 0 where it has none.
};

}  // namespace troupe::detail
