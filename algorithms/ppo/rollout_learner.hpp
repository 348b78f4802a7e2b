#pragma once

#include "algorithms/ppo/ppo_learner.hpp"
#include "algorithms/ppo/rollout.hpp"

namespace troupe {

/// PPO's update rule as trainer<> wants it: rollouts in, metrics out.
class rollout_learner {
 public:
  struct batch {
    std::vector<rollout> rollouts;
    bool stale = false;             ///< Older than the weights they train.
    double progress_remaining = 1;  ///< Falls from 1 to 0 over the training.
  };
  using report = ppo_metrics;

  rollout_learner(const network_shape& shape, const ppo_options& options, std::uint64_t seed)
      : learner_(shape, options, seed) {}

  report update(const batch& b) {
    return learner_.update(to_batch(b.rollouts, learner_.model().shape(), b.stale),
                           b.progress_remaining);
  }
  const at::Tensor& parameters() const { return learner_.model().parameters(); }
  void load_parameters(const at::Tensor& p) { learner_.model().load_parameters(p); }

  /// Everything but the parameters: optimiser, generator, counters.
  std::string save() const;
  /// Throws state_error, or std::invalid_argument if it is of another network.
  void restore(const std::string& bytes);

 private:
  ppo_learner learner_;
};

}  // namespace troupe
