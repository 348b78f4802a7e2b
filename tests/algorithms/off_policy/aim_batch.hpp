#pragma once
#include <algorithm>
#include <cmath>

#include "actors/random/action_random.hpp"
#include "algorithms/off_policy/transition_batch.hpp"

namespace troupe {

inline const network_shape one_action{.obs_size = 1, .continuous_size = 1};

/// A batch of `rows` transitions of random actions in a task of aiming: the reward is
/// -(action - obs / 2)^2, and every episode has one step.
inline transition_batch aim(action_random& random, int rows) {
  transition_batch batch;
  batch.resize(rows, one_action);
  random.fill_normal(batch.obs);
  for (int row = 0; row < rows; ++row) {
    batch.obs[row] = std::tanh(batch.obs[row]);
    batch.action[row] = static_cast<float>(2.0 * random.uniform() - 1.0);
    const float error = batch.action[row] - batch.obs[row] / 2;
    batch.reward[row] = -error * error;
  }
  std::fill(batch.terminated.begin(), batch.terminated.end(), 1.0f);
  return batch;
}

}  // namespace troupe
