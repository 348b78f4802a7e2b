#pragma once
// The interface of losses for on-policy learners. Write one for an algorithm of your own.

#include <functional>

#include "algorithms/losses/ppo_loss.hpp"
#include "algorithms/on_policy/config.hpp"

namespace troupe {

/// The loss of a minibatch of N rows, which the learner minimises. It is the part of the learner in
/// which on-policy algorithms differ. Advantages are already normalised if the options want it.
/// `progress_remaining` falls from 1 to 0 during training; a loss with a schedule reads it.
struct on_policy_loss {
  const char* name = "";  ///< The name of the algorithm, for errors.
  /// The column of progress.csv for the policy's loss. Stable-Baselines3's PPO calls it
  /// policy_gradient_loss, its A2C policy_loss.
  const char* policy_loss = "train/policy_loss";

  /// The loss as a function of a graph, which differentiates it on Troupe's kernels and on
  /// libtorch. Metrics must be means over the rows, or sums of such means. target_kl is compared
  /// with the metric approx_kl.
  std::function<ppo_loss_result(const ppo_loss_inputs&, double progress_remaining)> function;

  /// Returns the clip range for reports. Empty means the loss does not clip; infinity is reported.
  std::function<double(double progress_remaining)> clip_range = {};
};

/// The policy-gradient loss with value loss and entropy bonus (Mnih et al. 2016,
/// https://arxiv.org/abs/1602.01783, section 4). It is computed as PPO's surrogate without
/// clipping, which has the same gradient at the weights that acted, since the probability ratio is
/// 1 there (Huang et al. 2022, https://arxiv.org/abs/2205.09123). Without a baseline there is no
/// value loss.
on_policy_loss policy_gradient_loss(const char* name, const on_policy_options& options);

}  // namespace troupe
