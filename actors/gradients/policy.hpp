#pragma once
// Actor-critic networks as functions of a graph.

#include <memory>
#include <span>

#include "actors/gradients/graph.hpp"
#include "actors/networks/actor_critic.hpp"

namespace troupe {

/// Actions under a policy, and the values of the observations. All are [rows, 1].
struct action_evaluation {
  variable log_prob;
  variable entropy;
  variable value;
};

/// The trained parameters of a network with its gradient.
parameter_block trained_parameters(const actor_critic& net);

/// Computes what the network thinks of actions that were taken for obs [rows, D]. `block` has the
/// network's trained parameters. The memory of `obs` and of the actions must stay as it is until
/// the graph's next clear().
action_evaluation evaluate(graph& g, const actor_critic& net, const parameter_block& block,
                           std::span<const float> obs, const action_rows& actions);

/// Computes the actor's outputs for obs [rows, D], in which action masks have replaced logits.
variable action_outputs(graph& g, const actor_critic& net, const parameter_block& block,
                        std::span<const float> obs);

/// Returns the engine of the network's backend.
std::unique_ptr<graph> make_graph(const actor_critic& net);

}  // namespace troupe
