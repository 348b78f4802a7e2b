#pragma once
// The actor in the updates of SAC's learner, with hand-written gradients.

#include <optional>

#include "algorithms/losses/squashed_gaussian.hpp"
#include "algorithms/losses/squashed_noise.hpp"
#include "algorithms/off_policy/acting_policy.hpp"

namespace troupe::detail {

/// The actor in an update of SAC: it draws actions, computes their log-probabilities and the
/// gradient through both, with hand-written code. Its noise is independent for every row, or
/// state-dependent with use_sde.
class sac_actor {
 public:
  explicit sac_actor(const acting_policy& of);

  /// How many standard normal numbers a draw of so many rows needs: rows * A, or with use_sde one
  /// matrix of H * A.
  std::size_t noise_size(int rows) const;

  /// Computes action() [rows, A] and log_prob() [rows] for obs [rows, D].
  void draw(const acting_policy& of, const float* obs, int rows, const float* noise);
  const float* action() const { return noise_ ? noise_->action() : gaussian_.action(); }
  const float* log_prob() const { return noise_ ? noise_->log_prob() : gaussian_.log_prob(); }

  /// Overwrites gradient [P] with the gradient of a loss whose derivative is d_log_prob by every
  /// log_prob and d_action [rows, A] by the actions. Call it after `draw` with the same arguments.
  void backward(const acting_policy& of, const float* obs, int rows, const float* noise,
                float d_log_prob, const float* d_action, float* gradient);

 private:
  squashed_gaussian gaussian_;
  std::optional<squashed_noise> noise_;  // with use_sde
  mlp_buffers buffers_;
  float_block d_outputs_, d_features_;
};

}  // namespace troupe::detail
