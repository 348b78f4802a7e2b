#pragma once
// Updates with random batches, for the check of a rule.

#include <cstdint>
#include <functional>
#include <memory>

#include "actors/networks/network.hpp"
#include "algorithms/on_policy/policy_learners.hpp"

namespace troupe {

/// Returns a function that makes an update with a random rollout of 16 steps of 4 environments, in
/// which all agents act in every step. Policies near the learner's have acted in it, so that ratios
/// of probabilities are not 1. The learner's weights get normal noise of 0.1 before that. `network`
/// has the options of the networks that act. With `joint_actions` the rollout has
/// policy_rollout::acting. `seed` is that of noise and batch.
std::function<void()> random_update(std::shared_ptr<rollout_learner> learner,
                                    const network_shape& shape, const network_options& network,
                                    std::uint64_t seed, bool joint_actions = false);

}  // namespace troupe
