#pragma once
// Random rollouts, for the check of a rule.

#include <cstdint>
#include <vector>

#include <ATen/core/Generator.h>

#include "actors/networks/actor_critic.hpp"
#include "actors/random/action_random.hpp"
#include "algorithms/on_policy/rollout.hpp"

namespace troupe::detail {

/// Adds normal noise of 0.1 to the trained weights, which moves them away from those that training
/// begins with: there the entropy is almost at its maximum, where it has no derivative.
void move_weights(actor_critic& model, const at::Generator& generator);

/// Returns 16 steps of so many random columns. A policy near the model's has acted in them, so
/// that ratios of probabilities are not 1. `random` draws its actions, and `generator` the rest.
policy_rollout random_rollout(actor_critic& model, std::int64_t columns, action_random& random,
                              const at::Generator& generator);

/// Writes actions as rollouts have them: choices, and continuous numbers.
void write_actions(const action_batch& acted, const network_shape& shape,
                   std::vector<std::int64_t>& choices, std::vector<float>& continuous);

}  // namespace troupe::detail
