#pragma once
// Updates with random batches, for the check of a rule.

#include <cstdint>
#include <functional>
#include <memory>

#include "algorithms/on_policy/learner.hpp"

namespace troupe {

/// Returns a function that makes an update with a random batch of 16 steps of 4 environments. A
/// policy near the learner's has acted in it, so that ratios of probabilities are not 1. The
/// learner's weights get normal noise of 0.1 before that. `seed` is that of noise and batch.
std::function<void()> random_update(std::shared_ptr<on_policy_learner> learner, std::uint64_t seed);

}  // namespace troupe
