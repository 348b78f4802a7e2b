#pragma once
// The loss of critics.

#include <span>

#include "actors/gradients/graph.hpp"

namespace troupe {

/// The fit of values q [B, K] of K critics to targets y [B, 1].
struct critic_fit {
  variable loss;    ///< [1, 1] The sum over critics of the mean of weight * (q - y)^2.
  variable q_mean;  ///< [1, 1] The mean of the first critic's values.
  variable error;   ///< [B, 1] The mean over critics of |q - y|.
};

inline critic_fit fit_critics(variable q, variable y, std::span<const float> weight) {
  const auto error = q - y;
  return {mean(row_sum(square(error)), weight), mean(slice(q, 0, 1)), row_mean(abs(error))};
}

}  // namespace troupe
