#pragma once
#include <functional>

#include "algorithms/losses/ppo_loss.hpp"
#include "algorithms/losses/ppo_loss_rows.hpp"
#include "algorithms/on_policy/config.hpp"

namespace troupe {

/// What tells one on-policy algorithm from another: the loss of a minibatch of N rows, which the
/// learner minimises. Advantages come normalised, where the options want it. `progress_remaining`
/// falls from 1 to 0 over the training; a loss with a schedule reads it.
///
/// Metrics are means over the rows, or sums of such means. target_kl ends an update by approx_kl.
struct on_policy_loss {
  const char* name = "";  ///< of the algorithm, for errors

  /// The loss as a pure function of tensors [N]. libtorch differentiates it.
  std::function<ppo_loss_result(const ppo_loss_inputs&, double progress_remaining)> of_tensors;

  /// The same loss as a function of rows that gives its own derivatives, for the hand-written
  /// kernels. Empty: gradients are libtorch's, whatever the network is.
  std::function<ppo_loss_metrics(const ppo_loss_rows&, const ppo_loss_derivatives&,
                                 double progress_remaining)>
      of_rows = {};

  /// The clip range that is reported. Empty: nothing is clipped, and it is infinite.
  std::function<double(double progress_remaining)> clip_range = {};
};

/// The policy gradient with value loss and entropy bonus, Mnih et al. 2016,
/// https://arxiv.org/abs/1602.01783, section 4. It is the gradient of the surrogate of which
/// nothing is clipped (Huang et al. 2022, https://arxiv.org/abs/2205.09123): at the weights that
/// acted the ratio of probabilities is 1. Without a baseline there is no value loss.
on_policy_loss policy_gradient_loss(const char* name, const on_policy_options& options);

}  // namespace troupe
