#include "algorithms/run/action_histogram.hpp"

#include <algorithm>
#include <cmath>

#include "actors/environments/action_numbers.hpp"

namespace troupe {

action_histogram::action_histogram(const env_spec& spec, const network_shape& shape) {
  for (const int n : shape.choices()) counts_.emplace_back(static_cast<std::size_t>(n));
  choices_ = counts_.size();
  const auto numbers = numbers_of(spec.action_space);
  bounds_.resize(static_cast<std::size_t>(shape.continuous_size));
  for (std::size_t k = 0; k < bounds_.size(); ++k) {
    counts_.emplace_back(static_cast<std::size_t>(bins));
    const float low = numbers.low.at(k), high = numbers.high.at(k);
    if (std::isfinite(low) && std::isfinite(high) && low < high) bounds_[k] = {low, high};
  }
}

void action_histogram::add(std::span<const std::int64_t> choices) {
  for (std::size_t k = 0; k < choices.size(); ++k) {
    ++counts_.at(k).at(static_cast<std::size_t>(choices[k]));
  }
}

void action_histogram::add(std::span<const float> numbers) {
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    if (!std::isfinite(numbers[k])) continue;
    const auto [low, high] = bounds_.at(k);
    const double share =
        (static_cast<double>(numbers[k]) - low) / (static_cast<double>(high) - low);
    const auto bin = std::clamp(std::floor(share * bins), 0.0, static_cast<double>(bins - 1));
    ++counts_[choices_ + k][static_cast<std::size_t>(bin)];
  }
}

}  // namespace troupe
