#pragma once
#include <vector>

#include "actors/policy/actor_critic.hpp"
#include "algorithms/losses/ppo_loss.hpp"
#include "algorithms/ppo/training_rows.hpp"

namespace troupe::detail {

/// The loss of a minibatch and its gradient, by whichever backend the network is of: with
/// hand-written kernels, or with libtorch's autograd from ppo_loss. Both give the same to rounding.
class minibatch_gradient {
 public:
  explicit minibatch_gradient(const ppo_loss_options& options) : options_(options) {}

  /// What the update's schedules have come to.
  ppo_loss_options& options() { return options_; }

  /// The loss under the present weights.
  ppo_loss_metrics evaluate(actor_critic& model, const minibatch& of);
  /// After evaluate with the same arguments: model.gradient() is overwritten.
  void differentiate(actor_critic& model, const minibatch& of);

 private:
  ppo_loss_metrics evaluate_fused(actor_critic& model, const minibatch& of);
  ppo_loss_metrics evaluate_libtorch(actor_critic& model, const minibatch& of);

  ppo_loss_options options_;
  std::vector<float> d_log_prob_, d_entropy_, d_value_;  ///< by the hand-written kernels, [rows]
  at::Tensor loss_;                                      ///< by libtorch, with its graph
};

}  // namespace troupe::detail
