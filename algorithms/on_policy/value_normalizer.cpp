#include "algorithms/on_policy/value_normalizer.hpp"

#include <algorithm>
#include <cmath>

namespace troupe::detail {

void value_normalizer::update(const float* returns, std::span<const row_index> index) {
  if (index.empty()) return;
  double mean = 0, square = 0;
  for (const auto i : index) {
    const double value = returns[i];
    mean += value;
    square += value * value;
  }
  const auto count = static_cast<double>(index.size());
  const auto blend = [this](double& to, double value) { to = decay_ * to + (1 - decay_) * value; };
  blend(state_.mean, mean / count);
  blend(state_.square, square / count);
  blend(state_.weight, 1.0);
}

double value_normalizer::deviation() const {
  if (state_.weight <= 0) return 1.0;
  constexpr double variance_min = 1e-2;
  const double variance = state_.square / state_.weight - mean() * mean();
  return std::sqrt(std::max(variance, variance_min));
}

}  // namespace troupe::detail
