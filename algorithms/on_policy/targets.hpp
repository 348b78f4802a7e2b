#pragma once
// The advantages, returns and other targets of a rollout's rows, which the learner computes once at
// the beginning of an update.

#include <span>

#include "actors/networks/actor_critic.hpp"
#include "algorithms/learner/reward_scaling.hpp"
#include "algorithms/on_policy/config.hpp"
#include "algorithms/on_policy/training_rows.hpp"
#include "algorithms/on_policy/value_normalizer.hpp"

namespace troupe::detail {

/// Returns the batch in contiguous memory. With options.whole_episodes, steps of unfinished
/// episodes are marked as not valid.
rollout_batch prepared(rollout_batch batch, const on_policy_options& options);

/// Adds the rewards of valid steps to `scale` and returns the batch's rewards [T, B], scaled.
at::Tensor scaled_rewards(const rollout_batch& batch, reward_scale& scale);

/// Advantages and returns [T, B] by generalised advantage estimation (Schulman et al. 2016,
/// https://arxiv.org/abs/1506.02438, equation 16). The values are those of the critic that acted,
/// or of the present critic if the batch is stale. Without a baseline all values are 0. With
/// normalize_value, `scale` makes returns of the critic's values; the returned values are as the
/// critic gives them. Throws c10::Error if a stale batch lacks an observation that it needs.
training_targets targets_of(const rollout_batch& batch, actor_critic& model,
                            const on_policy_options& options, bool stale,
                            const value_normalizer& scale);

/// The same by V-trace (losses/vtrace.hpp), of a batch that older weights made if it is stale.
/// Afterwards the batch's log-probabilities are those of the present policy, so that the loss does
/// not weight the rows again.
training_targets vtrace_targets_of(graph& g, rollout_batch& batch, actor_critic& model,
                                   const on_policy_options& options, bool stale, minibatch& buffer);

/// The log-probabilities [T, B] of the actions under the present weights, by the graph `g`. Rows
/// that are not `usable` are 0.
at::Tensor proximal_log_prob_of(graph& g, const rollout_batch& batch, const actor_critic& model,
                                std::span<const row_index> usable, minibatch& buffer);

/// The explained variance 1 - Var(returns - value) / Var(returns) over the steps of all ranks; NaN
/// if returns do not vary. `index` are the steps of this rank.
double explained_variance(const training_targets& targets, std::span<const row_index> index,
                          const rank_group& ranks);

}  // namespace troupe::detail
