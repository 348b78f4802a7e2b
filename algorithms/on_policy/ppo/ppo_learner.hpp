#pragma once
#include <cstdint>

#include "actors/policy/action_random.hpp"
#include "actors/policy/actor_critic.hpp"
#include "actors/trainer/optimizer.hpp"
#include "algorithms/learner/skip_guard.hpp"
#include "algorithms/losses/ppo_loss.hpp"
#include "algorithms/on_policy/minibatch_gradient.hpp"
#include "algorithms/on_policy/ppo/config.hpp"
#include "algorithms/on_policy/rollout_batch.hpp"
#include "algorithms/on_policy/shared_rows.hpp"

namespace troupe {

/// One update, named and averaged as Stable-Baselines3 does under `train/`.
struct ppo_metrics {
  /// Means over the update's minibatches, but approx_kl over the last epoch's and loss the last's.
  ppo_loss_metrics loss;
  double explained_variance = 0.0;  ///< of returns by the values before the update; NaN if constant
  double grad_norm = 0.0;           ///< mean, before clipping
  double std = 0.0;                 ///< mean standard deviation of continuous actions, else 0
  double learning_rate = 0.0;
  double clip_range = 0.0;
  std::int64_t n_updates = 0;  ///< epochs since the start
  std::int64_t optimizer_steps = 0;
  std::int64_t skipped_steps = 0;  ///< not taken because loss or gradient was not finite
  std::int64_t trained_rows = 0;
  std::int64_t dropped_rows = 0;  ///< invalid, or not finite
  bool stopped_by_kl = false;     ///< target_kl ended the update early
};

/// Everything an exact continuation needs.
struct ppo_learner_state {
  at::Tensor parameters;  ///< float [P], a copy
  optimizer_state optimizer;
  action_random::state_type random{};
  std::int64_t n_updates = 0;
  int skipped_in_a_row = 0;
};

/// PPO's update rule: Schulman et al. 2017, https://arxiv.org/abs/1707.06347, algorithm 1, with the
/// details of Stable-Baselines3. A plain class: rollouts come in, new weights are in model(). With
/// normalize_obs their observations are normalised already, and so are those that model() takes.
class ppo_learner {
 public:
  /// The seed decides the initial weights and the order of the minibatches. Throws
  /// std::invalid_argument naming an option out of range.
  ppo_learner(const network_shape& shape, const ppo_options& options, std::uint64_t seed);

  /// Advantages, then n_epochs of shuffled minibatches, the last of which may be short. Invalid
  /// rows and those with numbers that are not finite are dropped. A step whose loss or gradient is
  /// not finite is skipped, so that the weights stay finite; max_skipped_steps in a row throw
  /// non_finite_training. `progress_remaining` falls from 1 to 0 over the training. Throws
  /// c10::Error if the batch has other shapes.
  ppo_metrics update(const rollout_batch& batch, double progress_remaining = 1.0);

  /// From now on this is one of several ranks, each of which is given a shard of a batch, rank 0's
  /// environments first: all of them update together to what one learner would make of the whole
  /// batch, but for rounding, and report the same. The weights become rank 0's. A group of one
  /// changes nothing. Throws collective_error, also if the ranks' optimisers or generators are not
  /// in the same state. Where an update throws it, the learner is left in the middle of that
  /// update: it goes on with set_state and with another group.
  void join(std::shared_ptr<collective> ranks);

  const ppo_options& options() const { return options_; }
  actor_critic& model() { return model_; }
  const actor_critic& model() const { return model_; }

  ppo_learner_state state() const;
  /// Throws c10::Error or std::invalid_argument if the state is of another network.
  void set_state(const ppo_learner_state& state);

 private:
  struct epoch_sums;
  rollout_batch prepared(rollout_batch batch);
  detail::training_targets make_targets(const rollout_batch& batch, bool stale);
  double over_ranks(double value);
  at::Tensor final_values(const rollout_batch& batch);
  void find_proximal_log_prob(const rollout_batch& batch, detail::training_targets& targets,
                              std::span<const detail::row_index> usable);
  bool train_epoch(const rollout_batch& batch, const detail::training_targets& targets,
                   detail::shared_rows& order, double lr, epoch_sums& sums);

  ppo_options options_;
  actor_critic model_;
  optimizer optimizer_;
  action_random random_;
  std::shared_ptr<collective> ranks_ = std::make_shared<lone_rank>();
  detail::minibatch minibatch_;
  detail::minibatch_gradient gradient_;
  std::int64_t n_updates_ = 0;
  detail::skip_guard skips_;
};

}  // namespace troupe
