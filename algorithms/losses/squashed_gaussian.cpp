#include "algorithms/losses/squashed_gaussian.hpp"

#include <cmath>
#include <numbers>

#include "actors/gradients/noise.hpp"
#include "actors/networks/state_dependent_noise.hpp"

namespace troupe {
namespace {

const float half_log_two_pi = static_cast<float>(0.5 * std::log(2.0 * std::numbers::pi));

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
  const auto std = noise_std(parameters, use_expln);
  const auto log_std = noise_log_std(features, std);
  const auto departure = product(features, std * means.owner().constant(draw, means.columns()));
  const auto mean = clamp(means, -detail::max_noisy_mean, detail::max_noisy_mean);
  return squash(mean + departure, departure * exp(-log_std), log_std);
}

}  // namespace troupe
