#pragma once
// The learner of PPO, A2C and REINFORCE. It can be used without a run.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "actors/networks/actor_critic.hpp"
#include "actors/random/action_random.hpp"
#include "actors/trainer/optimizer.hpp"
#include "algorithms/learner/data_parallel.hpp"
#include "algorithms/learner/skip_guard.hpp"
#include "algorithms/on_policy/advantage_normalization.hpp"
#include "algorithms/on_policy/config.hpp"
#include "algorithms/on_policy/loss.hpp"
#include "algorithms/on_policy/minibatch_gradient.hpp"
#include "algorithms/on_policy/rollout_batch.hpp"
#include "algorithms/on_policy/update_report.hpp"
#include "algorithms/on_policy/value_normalizer.hpp"

namespace troupe {

/// The state from which a learner goes on exactly.
struct on_policy_learner_state {
  at::Tensor parameters;  ///< float [P], a copy
  optimizer_state optimizer;
  action_random::state_type random{};
  std::int64_t n_updates = 0;
  int skipped_in_a_row = 0;
  detail::value_normalizer::state value_scale = {};  ///< Used with normalize_value.
  detail::reward_scale::state reward_scale = {};     ///< Used with normalize_reward.
};

/// Returns the optimiser, of so many parameters, that the options choose. Adam's weight decay
/// leaves out those that are `undecayed`.
optimizer optimizer_of(const on_policy_options& options, std::int64_t parameter_count,
                       std::vector<parameter_range> undecayed = {});

/// The update rule of all on-policy algorithms (Schulman et al. 2017,
/// https://arxiv.org/abs/1707.06347, algorithm 1) with the details of Stable-Baselines3. Algorithms
/// differ in their loss. The class has no actors: `update` takes a batch, and model() has the new
/// weights. With normalize_obs the observations of batches must already be normalised, and so must
/// those passed to model().
class on_policy_learner {
 public:
  /// `seed` decides the initial weights and the order of the minibatches. Throws
  /// std::invalid_argument that names the option if one is out of range.
  on_policy_learner(const network_shape& shape, const on_policy_options& options,
                    on_policy_loss loss, std::uint64_t seed);

  /// Makes one update: computes advantages, then trains n_epochs of shuffled minibatches, the last
  /// of which may be incomplete. Rows that are invalid or have numbers that are not finite are
  /// dropped. A step whose loss or gradient is not finite is skipped; max_skipped_steps in a row
  /// throw non_finite_training. `progress_remaining` falls from 1 to 0 during training. `chosen_lr`
  /// replaces lr and its schedule. Throws c10::Error if the shapes of the batch don't fit.
  on_policy_report update(const rollout_batch& batch, double progress_remaining = 1.0,
                          std::optional<double> chosen_lr = {});

  /// Makes this learner one of several ranks. `update` is then called with this rank's rows of each
  /// batch, and all ranks return the same report. data_parallel calls this.
  void join(rank_group ranks);

  /// The name of the algorithm.
  const char* name() const { return gradient_.loss().name; }
  actor_critic& model() { return model_; }
  const actor_critic& model() const { return model_; }
  const at::Tensor& parameters() const { return model_.parameters(); }

  on_policy_learner_state state() const;
  /// Throws c10::Error or std::invalid_argument if the state is that of another network.
  void set_state(const on_policy_learner_state& state);

  /// The state without the parameters, as bytes.
  std::string save() const;
  /// Restores what `save` returned. Throws state_error if it can't be read, or if it is the state
  /// of another network or optimiser.
  void restore(const std::string& bytes);

 private:
  /// Whether the critic's targets are normalised minibatch by minibatch.
  bool normalizes_minibatches() const;
  /// Makes one pass over the rows in this order. Returns false if the KL divergence ends the
  /// update.
  bool train_epoch(const rollout_batch& batch, const detail::training_targets& targets,
                   detail::row_order& order, double lr, double progress_remaining,
                   detail::update_sums& sums);

  on_policy_options options_;
  actor_critic model_;
  optimizer optimizer_;
  action_random random_;
  rank_group ranks_;
  detail::minibatch minibatch_;
  detail::advantage_normalization advantages_;
  detail::minibatch_gradient gradient_;
  detail::value_normalizer value_scale_;
  detail::reward_scale reward_scale_;
  std::int64_t n_updates_ = 0;
  detail::skip_guard skips_;
};

}  // namespace troupe
