#pragma once
#include <cstddef>

#include "actors/networks/state_dependent_noise.hpp"
#include "algorithms/losses/squashed_gaussian.hpp"

namespace troupe::detail {

/// Actions a = tanh(u), u = clip(mean, -2, 2) + phi E, by generalised state-dependent exploration:
/// Raffin et al. 2021, https://arxiv.org/abs/2005.05719. One matrix E explores in all rows, as in
/// Stable-Baselines3; log-probabilities are those of squashed_gaussian over all E. What the last
/// layer sees, phi, is learned from the exploration, too.
class squashed_noise {
 public:
  squashed_noise(int features, int actions, bool use_expln)
      : size_(actions), noise_(features, actions, use_expln), gaussian_(actions) {}

  /// Numbers of a draw and of the parameters, H A.
  std::size_t size() const { return noise_.size(); }

  /// `mean` [rows, A], phi [rows, H], `parameters` and `draw` [H, A], the latter standard normal.
  /// Gives action() [rows, A] and log_prob() [rows].
  void sample(const float* mean, const float* phi, const float* parameters, const float* draw,
              int rows);
  const float* action() const { return gaussian_.action(); }
  const float* log_prob() const { return gaussian_.log_prob(); }

  /// After sample with the same arguments: d_mean [rows, A], d_phi [rows, H] and d_parameters [H,
  /// A] are overwritten with the derivatives of a loss whose derivative by every log_prob is
  /// d_log_prob and by the actions d_action [rows, A].
  void backward(const float* mean, const float* phi, const float* draw, int rows, float d_log_prob,
                const float* d_action, float* d_mean, float* d_phi, float* d_parameters);

 private:
  int size_;
  state_dependent_noise noise_;
  squashed_gaussian gaussian_;
  float_block u_, z_;                    // [rows, A]; z: what phi E is in standard deviations
  float_block inverse_std_;              // [rows, A]
  float_block d_log_std_, d_departure_;  // [rows, A]
};

}  // namespace troupe::detail
