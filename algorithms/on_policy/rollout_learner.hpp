#pragma once

#include "algorithms/on_policy/ppo/ppo_learner.hpp"
#include "algorithms/on_policy/rollout.hpp"

namespace troupe {

/// PPO's update rule as trainer<> wants it: rollouts in, metrics out.
class rollout_learner {
 public:
  struct batch {
    std::vector<rollout> rollouts;
    bool stale = false;             ///< Older than the weights they train.
    double progress_remaining = 1;  ///< Falls from 1 to 0 over the training.
    /// Of observations, with normalize_obs: those of the weights that come of it.
    running_moments obs_statistics = {};
  };
  using report = ppo_metrics;

  rollout_learner(const network_shape& shape, const ppo_options& options, std::uint64_t seed)
      : learner_(shape, options, seed) {}

  report update(const batch& b) {
    auto made = learner_.update(shard_of(to_batch(b.rollouts, learner_.model().shape(), b.stale)),
                                b.progress_remaining);
    const auto& obs = b.obs_statistics;
    if (obs.width() > 0) learner_.model().set_obs_statistics(obs.mean(), obs.variance());
    return made;
  }
  /// From now on this is one of several ranks, each of which trains on the steps of some
  /// environments of every batch. See ppo_learner::join.
  void join(std::shared_ptr<collective> ranks) {
    ranks_ = ranks;
    learner_.join(std::move(ranks));
  }
  const at::Tensor& parameters() const { return learner_.model().parameters(); }
  void load_parameters(const at::Tensor& p) { learner_.model().load_parameters(p); }

  /// Everything but the parameters: optimiser, generator, counters.
  std::string save() const;
  /// Throws state_error, also if it is of another network or optimiser.
  void restore(const std::string& bytes);

 private:
  rollout_batch shard_of(rollout_batch whole) const;

  ppo_learner learner_;
  std::shared_ptr<const collective> ranks_;  // null: alone
};

}  // namespace troupe
