#pragma once
// The metrics of an on-policy update.

#include <cstdint>

#include "algorithms/losses/ppo_loss.hpp"

namespace troupe {

/// The metrics of one update, named and averaged like those under `train/` of Stable-Baselines3.
struct on_policy_report {
  /// Means over the update's minibatches. approx_kl is the mean over the last epoch, and `loss` is
  /// that of the last minibatch.
  ppo_loss_metrics loss;
  /// The explained variance of returns by the values before the update; NaN if returns are
  /// constant.
  double explained_variance = 0.0;
  double grad_norm = 0.0;  ///< The mean norm of the gradient before clipping.
  double std = 0.0;        ///< The mean standard deviation of continuous actions, else 0.
  double learning_rate = 0.0;
  double clip_range = 0.0;
  std::int64_t n_updates = 0;        ///< Epochs since the start of training.
  std::int64_t optimizer_steps = 0;  ///< Steps that the optimiser took in this update.
  std::int64_t skipped_steps = 0;    ///< Steps skipped as loss or gradient was not finite.
  std::int64_t trained_rows = 0;     ///< Rows that were trained on.
  std::int64_t dropped_rows = 0;     ///< Rows dropped as invalid or not finite.
  bool stopped_by_kl = false;        ///< True if target_kl ended the update early.
};

namespace detail {

/// Sums metrics over the minibatches of an update and writes their means to the report.
class update_sums {
 public:
  void begin_epoch() { kl_of_epoch_ = 0.0, minibatches_of_epoch_ = 0; }
  /// Adds the metrics of a minibatch whose loss is finite.
  void add(const ppo_loss_metrics& of_minibatch);
  /// Counts a step of the optimiser.
  void stepped(double grad_norm);
  void skipped() { ++skipped_; }

  /// Writes the means and counts to the report.
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
