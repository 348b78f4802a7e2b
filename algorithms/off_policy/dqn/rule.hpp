#pragma once
// DQN's update rule.

#include "actors/gradients/graph.hpp"
#include "actors/networks/network_stack.hpp"
#include "algorithms/off_policy/transition_batch.hpp"

namespace troupe {

/// Computes the values [rows, n] of the n actions in the states x. A dueling network's outputs are
/// a state value and advantages, Q = V + A - mean A (Wang et al. 2016, equation 9).
variable action_values(const detail::network_stack& net, variable x, const parameter_block& block,
                       bool dueling);

struct dqn_loss_terms {
  variable loss;    ///< [1, 1] The mean of weight * Huber(Q(s, a) - target).
  variable q_mean;  ///< [1, 1] The mean of Q(s, a).
  variable error;   ///< [B, 1] Q(s, a) - target
};

/// The loss of deep Q-learning. The target is reward + discount (1 - terminated) max Q'(s', .), or
/// with `double_q` Q' of the action that the online network chooses (van Hasselt et al. 2016,
/// equation 4). The loss is Huber's with delta 1, as in Stable-Baselines3.
dqn_loss_terms dqn_loss(graph& g, const detail::network_stack& net, const parameter_block& online,
                        const parameter_block& target, const transition_batch& batch, bool dueling,
                        bool double_q);

}  // namespace troupe
