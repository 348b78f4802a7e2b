#include "algorithms/losses/squashed_noise.hpp"

#include <algorithm>
#include <cmath>

namespace troupe::detail {

void squashed_noise::sample(const float* mean, const float* phi, const float* parameters,
                            const float* draw, int rows) {
  const auto count = static_cast<std::size_t>(rows) * size_;
  const float* log_std = noise_.log_std(parameters, phi, rows);
  const float* departure = noise_.depart_together(phi, rows, draw);
  float* u = grown(u_, count);
  float* z = grown(z_, count);
  float* inverse_std = grown(inverse_std_, count);
  for (std::size_t i = 0; i < count; ++i) {
    u[i] = std::clamp(mean[i], -max_noisy_mean, max_noisy_mean) + departure[i];
    inverse_std[i] = std::exp(-log_std[i]);
    z[i] = departure[i] * inverse_std[i];
  }
  gaussian_.take(u, z, log_std, rows);
}

void squashed_noise::backward(const float* mean, const float* phi, const float* draw, int rows,
                              float d_log_prob, const float* d_action, float* d_mean, float* d_phi,
                              float* d_parameters) {
  const auto count = static_cast<std::size_t>(rows) * size_;
  const float* action = gaussian_.action();
  float* d_log_std = grown(d_log_std_, count);
  float* d_departure = grown(d_departure_, count);
  for (std::size_t i = 0; i < count; ++i) {
    // u = mean + departure, log pi = -z^2 / 2 - log std - log(1 - a^2), z = departure / std
    const float z = z_[i];
    const float d_u = d_before_tanh(action[i], d_log_prob, d_action[i]);
    d_mean[i] = std::abs(mean[i]) < max_noisy_mean ? d_u : 0.0f;
    d_departure[i] = d_u - d_log_prob * z * inverse_std_[i];
    d_log_std[i] = d_log_prob * (z * z - 1.0f);
  }
  noise_.backward(phi, rows, d_log_std, d_departure, draw, d_parameters, d_phi);
}

}  // namespace troupe::detail
