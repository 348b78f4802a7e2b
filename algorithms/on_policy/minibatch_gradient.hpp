#pragma once
// The loss and gradient of a minibatch, with either backend. on_policy_learner uses it.

#include <vector>

#include "actors/networks/actor_critic.hpp"
#include "algorithms/learner/data_parallel.hpp"
#include "algorithms/on_policy/loss.hpp"
#include "algorithms/on_policy/training_rows.hpp"

namespace troupe::detail {

/// Computes the loss of a minibatch and its gradient with the network's backend: hand-written
/// kernels or libtorch's autograd. Both give the same up to rounding. If several ranks share the
/// minibatch, all of them get the loss and gradient of the whole minibatch.
class minibatch_gradient {
 public:
  explicit minibatch_gradient(on_policy_loss loss) : loss_(std::move(loss)) {}

  const on_policy_loss& loss() const { return loss_; }
  /// Sets the ranks that share minibatches from now on.
  void join(rank_group ranks) { ranks_ = std::move(ranks); }

  /// Computes the loss of a minibatch of `rows` rows under the present weights. `of` are the rows
  /// of this rank.
  ppo_loss_metrics evaluate(actor_critic& model, const minibatch& of, std::size_t rows,
                            double progress_remaining);
  /// Overwrites model.gradient() with the gradient. Call it after `evaluate` with the same
  /// arguments.
  void differentiate(actor_critic& model, const minibatch& of);

 private:
  ppo_loss_metrics evaluate_own(actor_critic& model, const minibatch& of, double progress);
  void differentiate_own(actor_critic& model, const minibatch& of);

  on_policy_loss loss_;
  rank_group ranks_;
  double share_ = 1.0;                                   ///< This rank's share of the rows.
  std::vector<float> d_log_prob_, d_entropy_, d_value_;  ///< [rows], of the hand-written kernels.
  at::Tensor loss_with_graph_;                           ///< libtorch's loss, a scalar.
};

}  // namespace troupe::detail
