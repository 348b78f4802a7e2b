#include "actors/networks/encoder.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "actors/networks/orthogonal.hpp"

namespace troupe {

std::size_t encoder::parameter_count() const {
  return parameters_.empty() ? 0 : parameters_.back().offset + parameters_.back().count();
}

void encoder::declare(int features, std::vector<encoder_parameter> parameters,
                      std::string obstacle) {
  features_ = features;
  parameters_ = std::move(parameters);
  obstacle_ = std::move(obstacle);
}

void encoder::initialise(action_random& random, bool orthogonal, float* parameters) const {
  for (const auto& each : parameters_) {
    float* to = parameters + each.offset;
    const auto value = each.initial;
    const bool is_layer = value == initial_values::weight || value == initial_values::bias;
    if (value == initial_values::weight && orthogonal) {
      detail::write_orthogonal(random, each.rows, each.columns, std::numbers::sqrt2, to);
    } else if (is_layer && !orthogonal) {
      const double bound = 1.0 / std::sqrt(each.inputs);
      for (std::size_t i = 0; i < each.count(); ++i) {
        to[i] = static_cast<float>(bound * (2.0 * random.uniform() - 1.0));
      }
    } else {
      std::fill_n(to, each.count(), value == initial_values::ones ? 1.0f : 0.0f);
    }
  }
}

}  // namespace troupe
