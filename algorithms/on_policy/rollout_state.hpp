#pragma once

#include <string>

#include "algorithms/on_policy/rollout.hpp"

namespace troupe {

/// A finished rollout as bytes, for checkpoints.
std::string to_bytes(const rollout& r);
/// Throws state_error.
rollout rollout_of(const std::string& bytes);

/// Everything a replay of rollouts goes on from.
std::string to_bytes(const replay_state<rollout>& state);
/// Throws state_error.
replay_state<rollout> replay_state_of(const std::string& bytes);

}  // namespace troupe
