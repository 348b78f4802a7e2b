#pragma once
// The update rule of IQL, VDN and QMIX.

#include "actors/gradients/graph.hpp"
#include "algorithms/multi_agent/off_policy/joint_q_networks.hpp"
#include "algorithms/multi_agent/off_policy/value_mixer.hpp"
#include "algorithms/off_policy/transition_batch.hpp"

namespace troupe {

struct joint_q_loss_terms {
  variable loss;    ///< [1, 1]
  variable q_mean;  ///< [1, 1] The mean of Q_tot; without a mixer of Q(o, a) over all that act.
  variable error;  ///< [B, 1] Q_tot - y; without a mixer [B, N] Q - y, 0 for agents that don't act.
};

/// The loss of deep Q-learning for N agents. The blocks are the parameters of the policies and then
/// those of the mixer.
///
/// With a mixer it is the mean of weight (Q_tot - y)^2 with the team's y = reward + discount (1 -
/// terminated) Q_tot' (Rashid et al. 2018, https://arxiv.org/abs/1803.11485, equation 6). Without
/// one (null) it is the sum over policies of the mean of weight (Q - y)^2 over the rows in which
/// agents of the policy act, with each agent's own y: each policy has the loss that it would have
/// alone (Tan 1993, "Multi-Agent Reinforcement Learning: Independent vs. Cooperative Agents").
///
/// Q' are the target's values of the best next choices that are allowed, of which with `double_q`
/// the online network judges (van Hasselt et al. 2016, equation 4). Agents that don't act, or whose
/// episode has ended, have the value 0.
joint_q_loss_terms joint_q_loss(graph& g, const joint_q_networks& networks, value_mixer* mixer,
                                const parameter_block& online, const parameter_block& target,
                                const transition_batch& batch, const joint_q_rows& rows,
                                bool double_q);

}  // namespace troupe
