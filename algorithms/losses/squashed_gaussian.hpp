#pragma once
#include <algorithm>

namespace troupe::detail {

/// Bounds of the log standard deviation of a squashed Gaussian, Stable-Baselines3's.
constexpr float min_log_std = -20.0f;
constexpr float max_log_std = 2.0f;

inline float clamp_log_std(float log_std) { return std::clamp(log_std, min_log_std, max_log_std); }

}  // namespace troupe::detail
