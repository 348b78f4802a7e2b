#include "algorithms/losses/squashed_gaussian.hpp"

#include <cmath>
#include <numbers>

#include "actors/policy/activation_kernels.hpp"

namespace troupe::detail {
namespace {

const float half_log_two_pi = static_cast<float>(0.5 * std::log(2.0 * std::numbers::pi));
constexpr float log_two = std::numbers::ln2_v<float>;

// log(1 - tanh(u)^2)
TROUPE_ALWAYS_INLINE float log_slope_of_tanh(float u) {
  const float size = u < 0.0f ? -u : u;
  return 2.0f * (log_two - size - log_one_plus(exp_of(-2.0f * size)));
}

TROUPE_CPU_CLONES void sample_all(int count, const float* __restrict mean,
                                  const float* __restrict log_std, const float* __restrict noise,
                                  float half_log_two_pi, float* __restrict std,
                                  float* __restrict action, float* __restrict log_density) {
  for (int i = 0; i < count; ++i) {
    const float s = exp_of(log_std[i]);
    const float u = mean[i] + s * noise[i];
    std[i] = s;
    action[i] = tanh_of(u);
    log_density[i] =
        -0.5f * noise[i] * noise[i] - log_std[i] - half_log_two_pi - log_slope_of_tanh(u);
  }
}

}  // namespace

void squashed_gaussian::sample(const float* outputs, const float* noise, int rows) {
  const auto count = static_cast<std::size_t>(rows) * size_;
  float* mean = grown(mean_, count);
  float* log_std = grown(log_std_, count);
  for (int row = 0; row < rows; ++row) {
    for (int i = 0; i < size_; ++i) {
      mean[row * size_ + i] = outputs[i];
      log_std[row * size_ + i] = clamp_log_std(outputs[size_ + i]);
    }
    outputs += 2 * size_;
  }
  float* log_density = grown(log_density_, count);
  sample_all(static_cast<int>(count), mean, log_std, noise, half_log_two_pi, grown(std_, count),
             grown(action_, count), log_density);
  float* log_prob = grown(log_prob_, rows);
  for (int row = 0; row < rows; ++row) {
    log_prob[row] = 0.0f;
    for (int i = 0; i < size_; ++i) log_prob[row] += *log_density++;
  }
}

void squashed_gaussian::backward(const float* outputs, const float* noise, int rows,
                                 float d_log_prob, const float* d_action, float* d_outputs) {
  const float* action = action_.data();
  const float* std = std_.data();
  for (int row = 0; row < rows; ++row) {
    for (int i = 0; i < size_; ++i) {
      // d log pi / du = 2 tanh u, da / du = 1 - a^2, and -log_std stands in log pi itself
      const float a = *action++;
      const float d_u = d_log_prob * 2.0f * a + *d_action++ * (1.0f - a * a);
      const float log_std = outputs[size_ + i];
      const bool free = log_std >= min_log_std && log_std <= max_log_std;
      d_outputs[i] = d_u;
      d_outputs[size_ + i] = free ? d_u * *std * *noise - d_log_prob : 0.0f;
      ++std;
      ++noise;
    }
    outputs += 2 * size_;
    d_outputs += 2 * size_;
  }
}

}  // namespace troupe::detail
