#pragma once
// The learner inside the trainer role of on-policy algorithms.

#include <optional>

#include "algorithms/learner/data_parallel.hpp"
#include "algorithms/on_policy/learner.hpp"
#include "algorithms/on_policy/rollout.hpp"

namespace troupe {

/// Adapts an on-policy learner to trainer<>: it trains on rollouts and returns a report.
class rollout_learner {
 public:
  struct batch {
    std::vector<rollout> rollouts = {};
    bool stale = false;             ///< True if older weights than the trainer's made a rollout.
    double progress_remaining = 1;  ///< Falls from 1 to 0 during training.
    std::optional<double> chosen_lr = {};  ///< Replaces lr and its schedule, if it is set.
    /// With normalize_obs, the statistics of observations that the new weights get.
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
  /// Makes this learner one of several ranks. Each rank trains on the steps of some environments of
  /// every batch. See data_parallel::join.
  void join(std::shared_ptr<collective> ranks) { learner_.join(std::move(ranks)); }
  const at::Tensor& parameters() const { return learner_.learner().parameters(); }
  void load_parameters(const at::Tensor& p) { learner_.learner().model().load_parameters(p); }

  /// The state without the parameters: optimiser, random generator and counters.
  std::string save() const { return learner_.learner().save(); }
  /// Restores what `save` returned. Throws state_error if it can't be read, or if it is the state
  /// of another network or optimiser.
  void restore(const std::string& bytes) { learner_.learner().restore(bytes); }

 private:
  data_parallel<on_policy_learner> learner_;
};

}  // namespace troupe
