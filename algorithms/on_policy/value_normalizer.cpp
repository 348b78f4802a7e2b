#include "algorithms/on_policy/value_normalizer.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace troupe::detail {

void value_normalizer::update(const float* returns, std::span<const row_index> index,
                              const rank_group& ranks) {
  double value = 0, square = 0;
  for (const auto i : index) {
    const double each = returns[i];
    value += each;
    square += each * each;
  }
  std::array sums{value, square, static_cast<double>(index.size())};
  ranks.sum(sums);
  const double count = sums[2];
  if (count == 0) return;
  const auto blend = [this](double& to, double value) { to = decay_ * to + (1 - decay_) * value; };
  blend(mean_, sums[0] / count);
  blend(square_, sums[1] / count);
  blend(weight_, 1.0);
}

double value_normalizer::deviation() const {
  if (weight_ <= 0) return 1.0;
  constexpr double variance_min = 1e-2;
  const double variance = square_ / weight_ - mean() * mean();
  return std::sqrt(std::max(variance, variance_min));
}

void value_normalizer::visit_state(state_visitor& visit) {
  visit("value_mean", std::span(&mean_, 1));
  visit("value_square", std::span(&square_, 1));
  visit("value_weight", std::span(&weight_, 1));
}

}  // namespace troupe::detail
