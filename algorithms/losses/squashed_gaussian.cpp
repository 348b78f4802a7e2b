#include "algorithms/losses/squashed_gaussian.hpp"

#include <cmath>
#include <numbers>

#include "actors/kernels/activation_kernels.hpp"

namespace troupe::detail {
namespace {

const float half_log_two_pi = static_cast<float>(0.5 * std::log(2.0 * std::numbers::pi));
constexpr float log_two = std::numbers::ln2_v<float>;

// log(1 - tanh(u)^2)
TROUPE_ALWAYS_INLINE float log_slope_of_tanh(float u) {
  const float size = u < 0.0f ? -u : u;
  return 2.0f * (log_two - size - log_one_plus(exp_of(-2.0f * size)));
}

// log N(u) - log(1 - tanh(u)^2)
TROUPE_ALWAYS_INLINE float squashed_log_density(float u, float z, float log_std,
                                                float half_log_two_pi) {
  return -0.5f * z * z - log_std - half_log_two_pi - log_slope_of_tanh(u);
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
    log_density[i] = squashed_log_density(u, noise[i], log_std[i], half_log_two_pi);
  }
}

TROUPE_CPU_CLONES void take_all(int count, const float* __restrict u, const float* __restrict z,
                                const float* __restrict log_std, float half_log_two_pi,
                                float* __restrict action, float* __restrict log_density) {
  for (int i = 0; i < count; ++i) {
    action[i] = tanh_of(u[i]);
    log_density[i] = squashed_log_density(u[i], z[i], log_std[i], half_log_two_pi);
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
  sample_all(static_cast<int>(count), mean, log_std, noise, half_log_two_pi, grown(std_, count),
             grown(action_, count), grown(log_density_, count));
  sum_densities(rows);
}

void squashed_gaussian::take(const float* u, const float* z, const float* log_std, int rows) {
  const auto count = static_cast<std::size_t>(rows) * size_;
  take_all(static_cast<int>(count), u, z, log_std, half_log_two_pi, grown(action_, count),
           grown(log_density_, count));
  sum_densities(rows);
}

void squashed_gaussian::sum_densities(int rows) {
  const float* log_density = log_density_.data();
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
      // log pi also contains -log_std itself.
      const float d_u = d_before_tanh(*action++, d_log_prob, *d_action++);
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
