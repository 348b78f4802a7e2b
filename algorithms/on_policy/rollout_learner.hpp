#pragma once

#include <optional>

#include "algorithms/learner/data_parallel.hpp"
#include "algorithms/on_policy/learner.hpp"
#include "algorithms/on_policy/rollout.hpp"

namespace troupe {

/// An on-policy learner as trainer<> wants it: rollouts in, a report out.
class rollout_learner {
 public:
  struct batch {
    std::vector<rollout> rollouts;
    bool stale = false;                    ///< Older than the weights they train.
    double progress_remaining = 1;         ///< Falls from 1 to 0 over the training.
    std::optional<double> chosen_lr = {};  ///< In place of the schedule's, where it is set.
    /// Of observations, with normalize_obs: those of the weights that come of it.
    running_moments obs_statistics = {};
  };
  using report = on_policy_report;

  explicit rollout_learner(on_policy_learner learner) : learner_(std::move(learner)) {}

  report update(const batch& b) {
    auto& model = learner_.learner().model();
    auto made = learner_.update(to_batch(b.rollouts, model.shape(), b.stale), b.progress_remaining,
                                b.chosen_lr);
    const auto& obs = b.obs_statistics;
    if (obs.width() > 0) model.set_obs_statistics(obs.mean(), obs.variance());
    return made;
  }
  /// From now on this is one of several ranks, each of which trains on the steps of some
  /// environments of every batch. See data_parallel::join.
  void join(std::shared_ptr<collective> ranks) { learner_.join(std::move(ranks)); }
  const at::Tensor& parameters() const { return learner_.learner().parameters(); }
  void load_parameters(const at::Tensor& p) { learner_.learner().model().load_parameters(p); }

  /// Everything but the parameters: optimiser, generator, counters.
  std::string save() const { return learner_.learner().save(); }
  /// Throws state_error, also if it is of another network or optimiser.
  void restore(const std::string& bytes) { learner_.learner().restore(bytes); }

 private:
  data_parallel<on_policy_learner> learner_;
};

}  // namespace troupe
