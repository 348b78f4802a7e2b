#include "actors/trainer/gradient_norm.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "actors/kernels/cpu_clones.hpp"

namespace troupe {
namespace {

// The sum is taken in several lanes, in an order that does not depend on the processor.
TROUPE_CPU_CLONES double sum_of_squares(const float* x, std::size_t count) {
  constexpr std::size_t lanes = 16;
  double sums[lanes] = {};
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const double value = x[i + lane];
      sums[lane] += value * value;
    }
  }
  for (; i < count; ++i) sums[0] += static_cast<double>(x[i]) * x[i];
  double total = 0.0;
  for (double sum : sums) total += sum;
  return total;
}

}  // namespace

clipped_gradient clip_gradient(std::span<const float> gradient, double max_norm) {
  clipped_gradient clipped{.norm = std::sqrt(sum_of_squares(gradient.data(), gradient.size()))};
  if (max_norm > 0.0) clipped.scale = std::min(1.0, max_norm / (clipped.norm + 1e-6));
  // Optimisers keep squares of the scaled gradient as floats, which must not overflow either.
  const double square = clipped.norm * clipped.scale * clipped.norm * clipped.scale;
  clipped.usable = square < std::numeric_limits<float>::max();
  return clipped;
}

}  // namespace troupe
