#pragma once
// What a rollout's rows are trained towards: found once, when an update begins.

#include <span>

#include "actors/networks/actor_critic.hpp"
#include "algorithms/on_policy/config.hpp"
#include "algorithms/on_policy/training_rows.hpp"

namespace troupe::detail {

/// The batch in contiguous memory, its `valid` as the options want it.
rollout_batch prepared(rollout_batch batch, const on_policy_options& options);

/// Advantages and returns [T, B] by generalised advantage estimation, Schulman et al. 2016,
/// https://arxiv.org/abs/1506.02438, equation 16. They build on the values of the critic that
/// acted; where the batch is stale, on those of the present one. Without a baseline every value is
/// 0. Throws c10::Error if a stale batch lacks an observation that it needs.
training_targets targets_of(const rollout_batch& batch, actor_critic& model,
                            const on_policy_options& options, bool stale);

/// log-probabilities [T, B] of the actions under the present weights, in the rows `usable`.
at::Tensor proximal_log_prob_of(const rollout_batch& batch, actor_critic& model,
                                std::span<const row_index> usable, minibatch& buffer);

/// 1 - Var(returns - value) / Var(returns) over all ranks' steps, of which `index` are this rank's;
/// NaN if returns do not vary.
double explained_variance(const training_targets& targets, std::span<const row_index> index,
                          const rank_group& ranks);

}  // namespace troupe::detail
