#include "actors/gradients/noise.hpp"

#include <limits>

namespace troupe {
namespace {

// log(1 + p) + 1 where p > 0, and e^p elsewhere.
variable expln(variable p) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  // The smallest positive number instead of 0 lets the derivative at 0 flow through e^p alone.
  const auto positive = clamp(p, std::numeric_limits<float>::min(), infinity);
  return natural_log(positive + 1.0f) + exp(clamp(p, -infinity, 0.0f));
}

}  // namespace

variable noise_std(variable parameters, bool use_expln) {
  return use_expln ? expln(parameters) : exp(parameters);
}

variable noise_log_std(variable features, variable std) {
  return 0.5f * natural_log(product(square(features), square(std)) + 1e-6f);
}

}  // namespace troupe
