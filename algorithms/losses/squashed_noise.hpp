#pragma once
// SAC's actions with state-dependent noise (use_sde): samples, log-probabilities and their
// derivatives.

#include <cstddef>

#include "actors/networks/state_dependent_noise.hpp"
#include "algorithms/losses/squashed_gaussian.hpp"

namespace troupe::detail {

/// SAC's actions by generalised state-dependent exploration: a = tanh(u), u = clip(mean, -2, 2) +
/// phi E (Raffin et al. 2021, https://arxiv.org/abs/2005.05719). phi are the inputs of the
/// network's last layer. One noise matrix E is used for all rows, as in Stable-Baselines3;
/// log-probabilities are those of squashed_gaussian over all E. The gradient flows through phi,
/// too.
class squashed_noise {
 public:
  squashed_noise(int features, int actions, bool use_expln)
      : size_(actions), noise_(features, actions, use_expln), gaussian_(actions) {}

  /// How many numbers a draw has, and how many parameters there are: H A.
  std::size_t size() const { return noise_.size(); }

  /// Computes action() [rows, A] and log_prob() [rows] from `mean` [rows, A], `phi` [rows, H],
  /// `parameters` [H, A] and `draw` [H, A], which is standard normal.
  void sample(const float* mean, const float* phi, const float* parameters, const float* draw,
              int rows);
  const float* action() const { return gaussian_.action(); }
  const float* log_prob() const { return gaussian_.log_prob(); }

  /// Overwrites d_mean [rows, A], d_phi [rows, H] and d_parameters [H, A] with the derivatives of a
  /// loss whose derivative is d_log_prob by every log_prob and d_action [rows, A] by the actions.
  /// Call it after `sample` with the same arguments.
  void backward(const float* mean, const float* phi, const float* draw, int rows, float d_log_prob,
                const float* d_action, float* d_mean, float* d_phi, float* d_parameters);

 private:
  int size_;
  state_dependent_noise noise_;
  squashed_gaussian gaussian_;
  float_block u_, z_;                    // [rows, A]; z is phi E in standard deviations
  float_block inverse_std_;              // [rows, A]
  float_block d_log_std_, d_departure_;  // [rows, A]
};

}  // namespace troupe::detail
