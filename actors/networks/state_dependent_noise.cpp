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
  float* slope = grown(slope_, size());
  for (std::size_t i = 0; i < size(); ++i) {
    const float p = parameters[i];
    const bool grows_slowly = use_expln_ && p > 0.0f;
    std[i] = grows_slowly ? std::log1p(p) + 1.0f : std::exp(p);
    slope[i] = grows_slowly ? 1.0f / (1.0f + p) : std[i];
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

void state_dependent_noise::backward(int rows, const float* d_log_std, float* d_parameters) {
  // d log_std / d variance = 1 / (2 variance), d variance / d p = phi^2 2 std dstd/dp
  const std::size_t count = static_cast<std::size_t>(rows) * actions_;
  float* d_variance = grown(d_variance_, count);
  for (std::size_t i = 0; i < count; ++i) d_variance[i] = 0.5f * d_log_std[i] / variance_[i];
  multiply({.left = phi_squared_.data(),
            .row_stride = 1,
            .step_stride = features_,
            .right = d_variance,
            .rows = features_,
            .steps = rows,
            .columns = actions_},
           d_parameters);
  for (std::size_t i = 0; i < size(); ++i) d_parameters[i] *= 2.0f * std_[i] * slope_[i];
}

const float* state_dependent_noise::depart_together(const float* phi, int rows, const float* draw) {
  float* matrix = grown(matrix_, size());
  for (std::size_t i = 0; i < size(); ++i) matrix[i] = std_[i] * draw[i];
  float* departure = grown(departure_, static_cast<std::size_t>(rows) * actions_);
  multiply({.left = phi,
            .row_stride = features_,
            .step_stride = 1,
            .right = matrix,
            .rows = rows,
            .steps = features_,
            .columns = actions_},
           departure);
  return departure;
}

// Writes result [rows, H] = d [rows, A] times the transpose of matrix [H, A].
void state_dependent_noise::multiply_transposed(const float* d, int rows, const float* matrix,
                                                float* result) {
  float* transposed = grown(transposed_, size());
  transpose(matrix, features_, actions_, transposed);
  multiply({.left = d,
            .row_stride = actions_,
            .step_stride = 1,
            .right = transposed,
            .rows = rows,
            .steps = actions_,
            .columns = features_},
           result);
}

void state_dependent_noise::backward(const float* phi, int rows, const float* d_log_std,
                                     const float* d_departure, const float* draw,
                                     float* d_parameters, float* d_phi) {
  backward(rows, d_log_std, d_parameters);
  // departure = phi (std draw): d / d std = draw phi^T d_departure
  float* product = grown(product_, size());
  multiply({.left = phi,
            .row_stride = 1,
            .step_stride = features_,
            .right = d_departure,
            .rows = features_,
            .steps = rows,
            .columns = actions_},
           product);
  for (std::size_t i = 0; i < size(); ++i) d_parameters[i] += product[i] * draw[i] * slope_[i];
  // d / d phi of the variance is 2 phi std^2, and of the departure it is std draw.
  const std::size_t count = static_cast<std::size_t>(rows) * features_;
  multiply_transposed(d_variance_.data(), rows, std_squared_.data(), d_phi);
  float* by_departure = grown(d_phi_, count);
  multiply_transposed(d_departure, rows, matrix_.data(), by_departure);
  for (std::size_t i = 0; i < count; ++i) d_phi[i] = 2.0f * phi[i] * d_phi[i] + by_departure[i];
}

void squash(const float* mean, const float* departure, std::size_t count, float* actions) {
  for (std::size_t i = 0; i < count; ++i) {
    const float clipped = std::clamp(mean[i], -max_noisy_mean, max_noisy_mean);
    actions[i] = std::tanh(departure ? clipped + departure[i] : clipped);
  }
}

}  // namespace troupe::detail
