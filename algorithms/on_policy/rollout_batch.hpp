#pragma once
// The batch of tensors on which an on-policy learner trains.

#include <cstdint>

#include <ATen/core/Tensor.h>

#include "actors/environments/running_normalizer.hpp"
#include "actors/networks/network.hpp"
#include "algorithms/on_policy/rollout_columns.hpp"

namespace troupe {

template <class>
using tensor_column = at::Tensor;

/// The learner's batch: T steps of B environments as tensors. Observations and rewards are
/// normalised if the run normalises them. Numbers are float32, flags bool.
struct rollout_batch : rollout_columns<tensor_column> {
  /// int64 [T, B], int64 [T, B, P] or float [T, B, A], unclipped. Of actions with both kinds of
  /// numbers it has the integers, int64 [T, B, P].
  at::Tensor action;
  at::Tensor continuous;   ///< float [T, B, A] of actions with both kinds of numbers
  at::Tensor final_value;  ///< [T, B] V of the last observation; ignored unless truncated
  at::Tensor final_index;  ///< int64 [F, 2] (t, b) of the rows of final_obs
  /// bool [T, B] false for a step in which an agent that has ended did nothing: it trains the
  /// critic and not the policy. Undefined means that there is none.
  at::Tensor acted;

  /// The version of the oldest weights that acted.
  std::uint64_t policy_version = 0;
  /// True if older weights than the learner's made the batch. Log-probabilities and values are then
  /// computed again when the update begins, and the loss is decoupled PPO's. This needs final_obs,
  /// final_index and bootstrap_obs.
  bool proximal_correction = false;
  /// With normalize_obs, the statistics of observations that the new weights get.
  running_moments obs_statistics = {};

  std::int64_t steps() const { return obs.size(0); }
  std::int64_t environments() const { return obs.size(1); }
};

/// The part of the batch with the `count` environments from `first` on. Throws c10::Error if there
/// are fewer.
rollout_batch of_environments(const rollout_batch& batch, std::int64_t first, std::int64_t count);

/// The part of the batch that one of several ranks trains on: the steps of some consecutive
/// environments. Rank 0 has the first ones.
rollout_batch shard_of(const rollout_batch& whole, std::size_t rank, std::size_t world);

/// Throws c10::Error that names the field, its shape and the expected one if the batch does not fit
/// a network of that shape. With `with_observations`, the fields that proximal_correction needs are
/// required, too.
void check(const rollout_batch& batch, const network_shape& shape, bool with_observations);

}  // namespace troupe
