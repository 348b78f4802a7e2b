#pragma once
#include <cstdint>
#include <vector>

#include "actors/networks/network.hpp"

namespace troupe {

/// Transitions drawn from a replay, for one gradient step. B = rows, D = floats in an observation,
/// A = floats in an action. Plain memory that is filled again for each step.
///
/// A transition of n steps holds the discounted sum of its n rewards, the observation after them,
/// and discount = gamma^n; one step is n = 1.
struct transition_batch {
  int rows = 0;
  std::vector<float> obs;            ///< [B, D]
  std::vector<float> action;         ///< [B, A], scaled to -1..1; continuous actions only
  std::vector<std::int64_t> choice;  ///< [B], 0 to n - 1; discrete actions only
  std::vector<float> reward;         ///< [B]
  std::vector<float> next_obs;       ///< [B, D]; the final one where an episode ended
  /// [B], 1 or 0. An episode that was truncated is not terminated: its last observation has value.
  std::vector<float> terminated;
  std::vector<float> discount;  ///< [B], gamma^n
  std::vector<float> weight;    ///< [B], importance of a prioritised draw; empty: 1 for all

  /// Makes room for `rows` transitions; importance weights are left empty.
  void resize(int rows, const network_shape& shape);
};

/// Throws std::invalid_argument naming the column whose size does not fit, or the choice that is
/// none.
void check(const transition_batch& batch, const network_shape& shape);

}  // namespace troupe
