#pragma once
// The metrics of an on-policy update, named and averaged like those under `train/` of
// Stable-Baselines3.

#include <cstdint>
#include <vector>

#include "algorithms/learner/metric_means.hpp"
#include "algorithms/losses/ppo_loss.hpp"

namespace troupe::detail {

/// Sums the metrics of losses over the minibatches of an update.
class update_sums {
 public:
  void begin_epoch() { kl_of_epoch_ = 0.0, minibatches_of_epoch_ = 0; }
  /// Adds the metrics of a minibatch whose loss is finite.
  void add(const ppo_loss_metrics& of_minibatch);
  /// Adds the norm of a step's gradient before clipping.
  void add_norm(double grad_norm);

  /// Adds their means to the metrics. approx_kl is the mean over the last epoch, and the loss is
  /// that of the last minibatch. `policy_loss` is the name of policy_gradient_loss.
  void write(const char* policy_loss, std::vector<named_number>& metrics) const;

 private:
  ppo_loss_metrics total_{.importance_weight = 0.0};
  double last_loss_ = 0.0;
  double kl_of_epoch_ = 0.0;
  double grad_norm_ = 0.0;
  std::int64_t minibatches_ = 0;
  std::int64_t minibatches_of_epoch_ = 0;
  std::int64_t steps_ = 0;
};

}  // namespace troupe::detail
