#pragma once
#include <vector>

#include "actors/networks/actor_critic.hpp"
#include "algorithms/learner/data_parallel.hpp"
#include "algorithms/on_policy/loss.hpp"
#include "algorithms/on_policy/training_rows.hpp"

namespace troupe::detail {

/// The loss of a minibatch and its gradient, by whichever backend the network is of: with
/// hand-written kernels, or with libtorch's autograd. Both give the same to rounding. Where ranks
/// share the minibatch, each with some of its rows, all get the whole one's.
class minibatch_gradient {
 public:
  explicit minibatch_gradient(on_policy_loss loss) : loss_(std::move(loss)) {}

  const on_policy_loss& loss() const { return loss_; }
  /// From now on these have the other rows of minibatches.
  void join(rank_group ranks) { ranks_ = std::move(ranks); }

  /// The loss under the present weights of a minibatch of `rows` rows, of which `of` are this
  /// rank's.
  ppo_loss_metrics evaluate(actor_critic& model, const minibatch& of, std::size_t rows,
                            double progress_remaining);
  /// After evaluate with the same arguments: model.gradient() is overwritten.
  void differentiate(actor_critic& model, const minibatch& of);

 private:
  ppo_loss_metrics evaluate_own(actor_critic& model, const minibatch& of, double progress);
  void differentiate_own(actor_critic& model, const minibatch& of);

  on_policy_loss loss_;
  rank_group ranks_;
  double share_ = 1.0;                                   ///< of the minibatch's rows, this rank's
  std::vector<float> d_log_prob_, d_entropy_, d_value_;  ///< by the hand-written kernels, [rows]
  at::Tensor loss_with_graph_;                           ///< by libtorch, a scalar
};

}  // namespace troupe::detail
