#pragma once
// The normalisation of observations inside a network with normalize_obs. The network's parameters
// end with the mean [D] and the inverse scale [D] of observations. The network sees (obs - mean) *
// inverse scale, clipped to +-10, as Stable-Baselines3's VecNormalize.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

namespace troupe::detail {

inline constexpr float obs_clip = 10.0f;
/// Added to variances before the square root.
inline constexpr double obs_epsilon = 1e-8;

/// Writes mean [D] and variance [D] as the 2 D floats at the end of the parameters.
inline void write_obs_scale(std::span<const double> mean, std::span<const double> variance,
                            float* to) {
  for (std::size_t i = 0; i < mean.size(); ++i) {
    to[i] = static_cast<float>(mean[i]);
    to[mean.size() + i] = static_cast<float>(1.0 / std::sqrt(variance[i] + obs_epsilon));
  }
}

/// Returns the variance of which write_obs_scale wrote this inverse scale, to the rounding of
/// floats.
inline double variance_of(float inverse_scale) {
  const double scale = 1.0 / inverse_scale;
  return std::max(0.0, scale * scale - obs_epsilon);
}

/// Writes obs [rows, width], normalised by the 2 * width floats at `scale`, to `seen`.
inline void scale_obs(const float* obs, int rows, int width, const float* scale, float* seen) {
  for (int row = 0; row < rows; ++row, obs += width, seen += width) {
    for (int i = 0; i < width; ++i) {
      seen[i] = std::clamp((obs[i] - scale[i]) * scale[width + i], -obs_clip, obs_clip);
    }
  }
}

}  // namespace troupe::detail
