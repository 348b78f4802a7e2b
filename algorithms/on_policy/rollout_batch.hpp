#pragma once
#include <cstdint>

#include <ATen/core/Tensor.h>

#include "actors/policy/network.hpp"

namespace troupe {

/// T steps of B environments side by side, as the acting policy saw them: observations and rewards
/// are normalised, where they are. Floats are float32.
struct rollout_batch {
  at::Tensor obs;          ///< [T, B, D] what the action was chosen from
  at::Tensor action;       ///< int64 [T, B], int64 [T, B, choices] or float [T, B, A], unclipped
  at::Tensor log_prob;     ///< [T, B] of the action, under the policy that acted
  at::Tensor value;        ///< [T, B] V(obs) under the policy that acted
  at::Tensor reward;       ///< [T, B]
  at::Tensor terminated;   ///< bool [T, B] the episode ended with this step
  at::Tensor truncated;    ///< bool [T, B] the episode was cut after this step
  at::Tensor final_value;  ///< [T, B] V of the last observation where truncated, else ignored
  at::Tensor bootstrap_value;  ///< [B] V of the observation after the last step
  at::Tensor valid;            ///< bool [T, B] false: drop this row; undefined: all are valid

  /// Oldest weights in the batch.
  std::uint64_t policy_version = 0;
  /// The batch was made by older weights than the learner's: log-probabilities and values are
  /// computed anew when the update begins, and the loss is decoupled PPO's. Needs the rest.
  bool proximal_correction = false;
  at::Tensor final_obs;      ///< [F, D] last observations of truncated episodes
  at::Tensor final_index;    ///< int64 [F, 2] their (t, b)
  at::Tensor bootstrap_obs;  ///< [B, D] the observation after the last step

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
