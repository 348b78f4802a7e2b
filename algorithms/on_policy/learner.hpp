#pragma once
// The learner of PPO, A2C, REINFORCE and IMPALA. It can be used without a run.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "actors/trainer/optimizer.hpp"
#include "algorithms/learner/data_parallel.hpp"
#include "algorithms/on_policy/actor_critic_learner.hpp"
#include "algorithms/on_policy/advantage_normalization.hpp"
#include "algorithms/on_policy/config.hpp"
#include "algorithms/on_policy/loss.hpp"
#include "algorithms/on_policy/minibatch_gradient.hpp"
#include "algorithms/on_policy/rollout.hpp"
#include "algorithms/on_policy/rollout_batch.hpp"
#include "algorithms/on_policy/update_sums.hpp"
#include "algorithms/on_policy/value_normalizer.hpp"

namespace troupe {

/// Returns the optimiser, of so many parameters, that the options choose. Adam's weight decay
/// leaves out those that are `undecayed`.
optimizer optimizer_of(const on_policy_options& options, std::int64_t parameter_count,
                       std::vector<parameter_range> undecayed = {});

/// The update rule of all on-policy algorithms (Schulman et al. 2017,
/// https://arxiv.org/abs/1707.06347, algorithm 1) with the details of Stable-Baselines3. Algorithms
/// differ in their loss. With normalize_obs the observations of batches must already be normalised,
/// and so must those passed to model().
///
/// An update computes advantages, then trains n_epochs of shuffled minibatches, the last of which
/// may be incomplete. Rows that are invalid or have numbers that are not finite are dropped. A step
/// whose loss or gradient is not finite is skipped. The metrics are named and averaged like those
/// of Stable-Baselines3; "train/n_updates" counts epochs. Throws c10::Error if the shapes of a
/// batch don't fit. The state is without the parameters.
class on_policy_learner : public actor_critic_learner<rollout_batch> {
 public:
  /// `seed` decides the initial weights and the order of the minibatches. Throws
  /// std::invalid_argument that names the option if one is out of range.
  on_policy_learner(const network_shape& shape, const on_policy_options& options,
                    on_policy_loss loss, std::uint64_t seed);

  using learner::update;
  /// Makes one update with rollouts, and gives the new weights the statistics of observations.
  const learner_report& update(const training_rollouts& given, double progress_remaining = 1.0,
                               std::optional<double> chosen_lr = {});

  /// Makes this learner one of several ranks, with the weights of rank 0. From now on each `update`
  /// trains on this rank's shard of the batch, and all ranks return the same report. A group of one
  /// changes nothing. Throws collective_error if a rank is lost or if the learners are not in the
  /// same state. If an update throws collective_error, the learner is left in the middle of that
  /// update; its state must be restored and it must join another group before it goes on.
  void join(std::shared_ptr<collective> ranks);

  const at::Tensor& parameters() const { return model_.parameters(); }

  void visit_state(state_visitor& visit) override;

 private:
  void check_batch(const rollout_batch& batch) const override;
  void train(const rollout_batch& batch) override;
  bool is_stale(const rollout_batch& batch) const;
  /// Whether the critic's targets are normalised minibatch by minibatch.
  bool normalizes_minibatches() const;
  /// Makes one pass over the rows in this order. Returns false if the KL divergence ends the
  /// update.
  bool train_epoch(const rollout_batch& batch, const detail::training_targets& targets,
                   detail::row_order& order, detail::update_sums& sums);

  on_policy_options options_;
  optimizer optimizer_;
  rank_group ranks_;
  detail::minibatch minibatch_;
  detail::advantage_normalization advantages_;
  detail::minibatch_gradient gradient_;
  detail::value_normalizer value_scale_;
  detail::reward_scale reward_scale_;
  std::int64_t epochs_ = 0;
};

}  // namespace troupe
