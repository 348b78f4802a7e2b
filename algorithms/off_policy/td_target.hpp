#pragma once
// The target of temporal-difference learning.

#include "actors/gradients/graph.hpp"
#include "algorithms/off_policy/transition_batch.hpp"

namespace troupe {

/// reward + discount (1 - terminated) next, where `next` [B, 1] is the value of the next state.
inline variable td_target(const transition_batch& batch, variable next) {
  auto& g = next.owner();
  const auto terminated = g.constant(batch.terminated);
  return g.constant(batch.reward) + g.constant(batch.discount) * (1.0f - terminated) * next;
}

}  // namespace troupe
