#pragma once
#include <cstdint>

#include "algorithms/losses/ppo_loss.hpp"

namespace troupe {

/// One update, named and averaged as Stable-Baselines3 does under `train/`.
struct on_policy_report {
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

namespace detail {

/// Sums over the minibatches of an update, of which the report has the means.
class update_sums {
 public:
  void begin_epoch() { kl_of_epoch_ = 0.0, minibatches_of_epoch_ = 0; }
  /// A minibatch whose loss is finite.
  void add(const ppo_loss_metrics& of_minibatch);
  /// The optimiser took a step.
  void stepped(double grad_norm);
  void skipped() { ++skipped_; }

  /// Fills in what the minibatches tell.
  void write(on_policy_report& to) const;

 private:
  ppo_loss_metrics total_{.importance_weight = 0.0};
  double last_loss_ = 0.0;
  double kl_of_epoch_ = 0.0;
  double grad_norm_ = 0.0;
  std::int64_t minibatches_ = 0;
  std::int64_t minibatches_of_epoch_ = 0;
  std::int64_t steps_ = 0;
  std::int64_t skipped_ = 0;
};

}  // namespace detail
}  // namespace troupe
