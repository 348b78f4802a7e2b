#pragma once
#include <algorithm>

#include "actors/kernels/float_block.hpp"

/// Actions a = tanh(u), u = mean + exp(log_std) noise, whose mean and log standard deviation are
/// outputs of a network. Haarnoja et al. 2018, https://arxiv.org/abs/1812.05905, appendix C:
///
///   log pi(a|s) = sum over i of log N(u_i) - log(1 - tanh(u_i)^2)
///
/// the last term as 2 (log 2 - |u| - log(1 + exp(-2 |u|))), which is exact for any u, where
/// Stable-Baselines3 adds 1e-6 inside the logarithm.
namespace troupe::detail {

/// Bounds of the log standard deviation, Stable-Baselines3's. No gradient flows beyond them.
constexpr float min_log_std = -20.0f;
constexpr float max_log_std = 2.0f;

inline float clamp_log_std(float log_std) { return std::clamp(log_std, min_log_std, max_log_std); }

/// d loss / du where the loss' derivative by log pi is d_log_prob and by the action a d_action:
/// d log pi / du = 2 tanh u through its last term, da / du = 1 - a^2.
inline float d_before_tanh(float a, float d_log_prob, float d_action) {
  return d_log_prob * 2.0f * a + d_action * (1.0f - a * a);
}

/// Draws of `rows` actions of `size` numbers, with what the chain rule needs. Used again and again.
class squashed_gaussian {
 public:
  explicit squashed_gaussian(int size) : size_(size) {}

  /// `outputs` [rows, 2 size]: means, then log standard deviations; `noise` [rows, size] standard
  /// normal. Gives action() [rows, size] and log_prob() [rows].
  void sample(const float* outputs, const float* noise, int rows);
  /// The same of u that lie z standard deviations off their means, all [rows, size].
  void take(const float* u, const float* z, const float* log_std, int rows);
  int size() const { return size_; }
  const float* action() const { return action_.data(); }
  const float* log_prob() const { return log_prob_.data(); }

  /// After sample with the same outputs and noise: d_outputs [rows, 2 size] is overwritten with the
  /// derivatives of a loss whose derivative by every log_prob is d_log_prob and by the actions
  /// d_action [rows, size].
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
