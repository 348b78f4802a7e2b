#include "actors/networks/state_dependent_noise.hpp"

#include <algorithm>
#include <cmath>

#include "actors/kernels/dense_kernels.hpp"

namespace troupe::detail {
namespace {

constexpr float variance_floor = 1e-6f;

}  // namespace

void state_dependent_noise::find_std(const float* parameters) {
  float* std = grown(std_, size());
  for (std::size_t i = 0; i < size(); ++i) {
    const float p = parameters[i];
    const bool grows_slowly = use_expln_ && p > 0.0f;
    std[i] = grows_slowly ? std::log1p(p) + 1.0f : std::exp(p);
  }
}

const float* state_dependent_noise::log_std(const float* parameters, const float* phi, int rows) {
  find_std(parameters);
  float* std_squared = grown(std_squared_, size());
  for (std::size_t i = 0; i < size(); ++i) std_squared[i] = std_[i] * std_[i];
  const std::size_t phi_count = static_cast<std::size_t>(rows) * features_;
  float* phi_squared = grown(phi_squared_, phi_count);
  for (std::size_t i = 0; i < phi_count; ++i) phi_squared[i] = phi[i] * phi[i];

  const std::size_t count = static_cast<std::size_t>(rows) * actions_;
  float* variance = grown(variance_, count);
  multiply({.left = phi_squared,
            .row_stride = features_,
            .step_stride = 1,
            .right = std_squared,
            .rows = rows,
            .steps = features_,
            .columns = actions_},
           variance);
  float* log_std = grown(log_std_, count);
  for (std::size_t i = 0; i < count; ++i) {
    variance[i] += variance_floor;
    log_std[i] = 0.5f * std::log(variance[i]);
  }
  return log_std;
}

const float* state_dependent_noise::depart(const float* phi, int rows, const float* const* draws) {
  float* departure = grown(departure_, static_cast<std::size_t>(rows) * actions_);
  for (int row = 0; row < rows; ++row, phi += features_, departure += actions_) {
    std::fill_n(departure, actions_, 0.0f);
    const float* draw = draws[row];
    const float* std = std_.data();
    for (int h = 0; h < features_; ++h) {
      for (int a = 0; a < actions_; ++a) departure[a] += phi[h] * *std++ * *draw++;
    }
  }
  return departure_.data();
}

const float* state_dependent_noise::depart_alone(int rows, action_random& random) {
  const std::size_t count = static_cast<std::size_t>(rows) * actions_;
  float* departure = grown(departure_, count);
  for (std::size_t i = 0; i < count; ++i) {
    departure[i] = std::exp(log_std_[i]) * static_cast<float>(random.normal());
  }
  return departure;
}

void squash(const float* mean, const float* departure, std::size_t count, float* actions) {
  for (std::size_t i = 0; i < count; ++i) {
    const float clipped = std::clamp(mean[i], -max_noisy_mean, max_noisy_mean);
    actions[i] = std::tanh(departure ? clipped + departure[i] : clipped);
  }
}

}  // namespace troupe::detail
