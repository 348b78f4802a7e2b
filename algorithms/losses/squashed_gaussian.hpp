#pragma once
// SAC's actions with independent noise: samples, log-probabilities and their derivatives.

#include <algorithm>

#include "actors/kernels/float_block.hpp"

/// SAC's distribution of actions: a = tanh(u), u = mean + exp(log_std) noise, where mean and
/// log_std are outputs of a network. Haarnoja et al. 2018, https://arxiv.org/abs/1812.05905,
/// appendix C:
///
///   log pi(a|s) = sum over i of log N(u_i) - log(1 - tanh(u_i)^2)
///
/// The last term is computed as 2 (log 2 - |u| - log(1 + exp(-2 |u|))), which is exact for any u.
/// Stable-Baselines3 adds 1e-6 inside the logarithm instead.
namespace troupe::detail {

/// The bounds of the log standard deviation, as in Stable-Baselines3. No gradient flows beyond
/// them.
constexpr float min_log_std = -20.0f;
constexpr float max_log_std = 2.0f;

inline float clamp_log_std(float log_std) { return std::clamp(log_std, min_log_std, max_log_std); }

/// The derivative d loss / du, if the loss has the derivatives d_log_prob by log pi and d_action by
/// the action a: d log pi / du = 2 tanh u through the last term above, and da / du = 1 - a^2.
inline float d_before_tanh(float a, float d_log_prob, float d_action) {
  return d_log_prob * 2.0f * a + d_action * (1.0f - a * a);
}

/// Samples batches of actions of `size` numbers and computes derivatives of their loss. The object
/// keeps its buffers and is used for many batches.
class squashed_gaussian {
 public:
  explicit squashed_gaussian(int size) : size_(size) {}

  /// Computes action() [rows, size] and log_prob() [rows]. `outputs` [rows, 2 size] are the means,
  /// then the log standard deviations; `noise` [rows, size] is standard normal.
  void sample(const float* outputs, const float* noise, int rows);
  /// Computes action() and log_prob() from given u, which are z standard deviations away from their
  /// means. All are [rows, size].
  void take(const float* u, const float* z, const float* log_std, int rows);
  int size() const { return size_; }
  const float* action() const { return action_.data(); }
  const float* log_prob() const { return log_prob_.data(); }

  /// Overwrites d_outputs [rows, 2 size] with the derivatives of a loss whose derivative is
  /// d_log_prob by every log_prob and d_action [rows, size] by the actions. Call it after `sample`
  /// with the same outputs and noise.
  void backward(const float* outputs, const float* noise, int rows, float d_log_prob,
                const float* d_action, float* d_outputs);

 private:
  void sum_densities(int rows);

  int size_;
  float_block mean_, log_std_, std_;  // [rows, size]
  float_block action_, log_density_;  // [rows, size]
  float_block log_prob_;              // [rows]
};

}  // namespace troupe::detail
