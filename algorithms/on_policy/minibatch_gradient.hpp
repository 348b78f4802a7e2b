#pragma once
#include <memory>
#include <vector>

#include "actors/collective/collective.hpp"
#include "actors/policy/actor_critic.hpp"
#include "algorithms/losses/ppo_loss.hpp"
#include "algorithms/on_policy/training_rows.hpp"

namespace troupe::detail {

/// The loss of a minibatch and its gradient, by whichever backend the network is of: with
/// hand-written kernels, or with libtorch's autograd from ppo_loss. Both give the same to rounding.
/// Where ranks share the minibatch, each with some of its rows, all get the whole one's.
class minibatch_gradient {
 public:
  explicit minibatch_gradient(const ppo_loss_options& options) : options_(options) {}

  /// From now on these share the minibatches, whose advantages have been normalised.
  void share_with(std::shared_ptr<collective> ranks);

  /// What the update's schedules have come to.
  ppo_loss_options& options() { return options_; }

  /// The loss under the present weights of a minibatch of `rows` rows, of which `of` are this
  /// rank's.
  ppo_loss_metrics evaluate(actor_critic& model, const minibatch& of, std::size_t rows);
  /// After evaluate with the same arguments: model.gradient() is overwritten.
  void differentiate(actor_critic& model, const minibatch& of);

 private:
  ppo_loss_metrics evaluate_own(actor_critic& model, const minibatch& of);
  void differentiate_own(actor_critic& model, const minibatch& of);
  ppo_loss_metrics evaluate_fused(actor_critic& model, const minibatch& of);
  ppo_loss_metrics evaluate_libtorch(actor_critic& model, const minibatch& of);

  ppo_loss_options options_;
  std::shared_ptr<collective> ranks_;                    ///< null: nobody shares
  double share_ = 1.0;                                   ///< of the minibatch's rows, this rank's
  std::vector<float> d_log_prob_, d_entropy_, d_value_;  ///< by the hand-written kernels, [rows]
  at::Tensor loss_;                                      ///< by libtorch, with its graph
};

}  // namespace troupe::detail
