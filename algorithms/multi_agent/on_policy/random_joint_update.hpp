#pragma once
// Updates of several policies with random batches, for the check of a rule.

#include <cstdint>
#include <functional>
#include <memory>

#include "actors/networks/network.hpp"
#include "algorithms/multi_agent/on_policy/joint_learner.hpp"

namespace troupe {

/// Returns a function that makes an update with a random joint rollout of 4 environments, in which
/// all agents act in every step. `network` has the options of the networks that act; the learner's
/// weights are moved before that. With `joint_actions` the rollout has joint_rollout::acting.
/// `seed` is that of noise and batch.
std::function<void()> random_joint_update(std::shared_ptr<joint_learner> learner,
                                          const network_shape& shape,
                                          const network_options& network, bool joint_actions,
                                          std::uint64_t seed);

}  // namespace troupe
