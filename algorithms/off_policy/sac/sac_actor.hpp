#pragma once
#include <optional>

#include "algorithms/losses/squashed_gaussian.hpp"
#include "algorithms/losses/squashed_noise.hpp"
#include "algorithms/off_policy/acting_policy.hpp"

namespace troupe::detail {

/// The actor in an update of SAC: actions it draws, their log-probabilities and the gradient
/// through both, by hand. Its exploration is independent in every row, or state-dependent.
class sac_actor {
 public:
  explicit sac_actor(const acting_policy& of);

  /// Standard normals that a draw of so many rows takes: [rows, A], or one matrix [H, A].
  std::size_t noise_size(int rows) const;

  /// Gives action() [rows, A] and log_prob() [rows] in obs [rows, D].
  void draw(const acting_policy& of, const float* obs, int rows, const float* noise);
  const float* action() const { return noise_ ? noise_->action() : gaussian_.action(); }
  const float* log_prob() const { return noise_ ? noise_->log_prob() : gaussian_.log_prob(); }

  /// After draw with the same arguments: gradient [P] is overwritten with that of a loss whose
  /// derivative by every log_prob is d_log_prob and by the actions d_action [rows, A].
  void backward(const acting_policy& of, const float* obs, int rows, const float* noise,
                float d_log_prob, const float* d_action, float* gradient);

 private:
  squashed_gaussian gaussian_;
  std::optional<squashed_noise> noise_;  // with use_sde
  mlp_buffers buffers_;
  float_block d_outputs_, d_features_;
};

}  // namespace troupe::detail
