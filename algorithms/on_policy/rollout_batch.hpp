#pragma once
#include <cstdint>

#include <ATen/core/Tensor.h>

#include "actors/networks/network.hpp"
#include "algorithms/on_policy/rollout_columns.hpp"

namespace troupe {

template <class>
using tensor_column = at::Tensor;

/// T steps of B environments side by side, as the acting policy saw them: observations and rewards
/// are normalised, where they are. Floats are float32, flags bool.
struct rollout_batch : rollout_columns<tensor_column> {
  at::Tensor action;       ///< int64 [T, B], int64 [T, B, choices] or float [T, B, A], unclipped
  at::Tensor final_value;  ///< [T, B] V of the last observation where truncated, else ignored
  at::Tensor final_index;  ///< int64 [F, 2] (t, b) of the rows of final_obs

  /// Oldest weights in the batch.
  std::uint64_t policy_version = 0;
  /// The batch was made by older weights than the learner's: log-probabilities and values are
  /// computed anew when the update begins, and the loss is decoupled PPO's. Needs final_obs,
  /// final_index and bootstrap_obs.
  bool proximal_correction = false;

  std::int64_t steps() const { return obs.size(0); }
  std::int64_t environments() const { return obs.size(1); }
};

/// The same steps of `count` environments from `first` on. Throws c10::Error if there are fewer.
rollout_batch of_environments(const rollout_batch& batch, std::int64_t first, std::int64_t count);

/// The part of the batch that one of several ranks trains on: the steps of some environments next
/// to one another, rank 0's first.
rollout_batch shard_of(const rollout_batch& whole, std::size_t rank, std::size_t world);

/// Throws c10::Error naming the field, its shape and the one expected, if the batch does not fit a
/// network of that shape. `with_observations`: what proximal_correction needs must be there too.
void check(const rollout_batch& batch, const network_shape& shape, bool with_observations);

}  // namespace troupe
