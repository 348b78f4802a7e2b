#include "algorithms/losses/squashed_gaussian.hpp"

#include <cmath>
#include <limits>
#include <numbers>

#include "actors/networks/state_dependent_noise.hpp"

namespace troupe {
namespace {

const float half_log_two_pi = static_cast<float>(0.5 * std::log(2.0 * std::numbers::pi));

// log(1 + p) + 1 where p > 0, and e^p elsewhere.
variable expln(variable p) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  // The smallest positive number instead of 0 lets the derivative at 0 flow through e^p alone.
  const auto positive = clamp(p, std::numeric_limits<float>::min(), infinity);
  return natural_log(positive + 1.0f) + exp(clamp(p, -infinity, 0.0f));
}

}  // namespace

squashed_actions squash(variable u, variable z, variable log_std) {
  const auto log_density = -0.5f * square(z) - log_std - half_log_two_pi - log_slope_of_tanh(u);
  return {tanh(u), row_sum(log_density)};
}

squashed_actions squashed_gaussian(variable outputs, std::span<const float> noise) {
  const int size = outputs.columns() / 2;
  const auto mean = slice(outputs, 0, size);
  const auto log_std = clamp(slice(outputs, size, size), detail::min_log_std, detail::max_log_std);
  const auto z = outputs.owner().constant(noise, size);
  return squash(mean + exp(log_std) * z, z, log_std);
}

squashed_actions squashed_noise(variable means, variable features, variable parameters,
                                std::span<const float> draw, bool use_expln) {
  const auto std = use_expln ? expln(parameters) : exp(parameters);
  const auto variance = product(square(features), square(std)) + 1e-6f;
  const auto log_std = 0.5f * natural_log(variance);
  const auto departure = product(features, std * means.owner().constant(draw, means.columns()));
  const auto mean = clamp(means, -detail::max_noisy_mean, detail::max_noisy_mean);
  return squash(mean + departure, departure * exp(-log_std), log_std);
}

}  // namespace troupe
