#include "actors/replay/sample_info.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace troupe {

std::vector<double> importance_weights(std::span<const sample_info> samples, double beta) {
  if (!(beta >= 0 && beta <= 1)) {
    throw std::invalid_argument(
        fmt::format("importance_weights: beta: expected a number within 0 .. 1, got {}", beta));
  }
  std::vector<double> weights;
  weights.reserve(samples.size());
  double largest = -std::numeric_limits<double>::infinity();
  for (const auto& sample : samples) {
    if (!(sample.probability > 0 && sample.table_size > 0)) {
      throw std::invalid_argument(fmt::format(
          "importance_weights: key {}: expected a probability and a table size > 0, got {} and {}",
          sample.key, sample.probability, sample.table_size));
    }
    // As logarithms: a very small probability has a weight that is no double.
    weights.push_back(
        -beta * (std::log(static_cast<double>(sample.table_size)) + std::log(sample.probability)));
    largest = std::max(largest, weights.back());
  }
  for (auto& weight : weights) weight = std::exp(weight - largest);
  return weights;
}

}  // namespace troupe
