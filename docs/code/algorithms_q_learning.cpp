// The code of docs/algorithms/q_learning.md.

// readme: q_learner
#include "algorithms/off_policy/q_learning/q_learner.hpp"

/// Learns the way along a corridor of five states, of which the last ends the episode with a reward
/// of 1. Returns the value of going right from the first, 0.9 * 0.9 * 0.9.
double learn_corridor() {
  troupe::q_learner learner(/*states=*/5, /*actions=*/2, {.lr = 0.5, .gamma = 0.9});
  for (int episode = 0; episode < 100; ++episode) {
    for (std::int64_t state = 0; state < 4; ++state) {
      const bool out = state == 3;
      learner.update({.state = state,
                      .action = 1,
                      .reward = out ? 1.0 : 0.0,
                      .terminated = out,
                      .next_state = state + 1});
    }
  }
  return learner.values(0)[1];
}
// readme: end
