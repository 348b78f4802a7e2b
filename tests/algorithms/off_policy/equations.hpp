#pragma once
// What tests need that write the equations of a rule out for one row at a time.

#include <vector>

#include "actors/networks/mlp.hpp"

namespace troupe {

/// The outputs of a perceptron for the row's numbers.
inline std::vector<double> outputs_of(const detail::mlp& net, const float* parameters,
                                      const std::vector<float>& x) {
  detail::mlp_buffers buffers;
  const float* y = net.forward(parameters, x.data(), 1, buffers);
  return {y, y + net.outputs()};
}

inline std::vector<float> row_of(const std::vector<float>& all, int row, int columns) {
  return {all.begin() + row * columns, all.begin() + (row + 1) * columns};
}

/// Moves the targets away from the networks, so that one can't be taken for the other.
inline std::vector<float> moved(std::vector<float> parameters) {
  for (std::size_t i = 0; i < parameters.size(); ++i) parameters[i] += i % 2 == 0 ? 0.05f : -0.07f;
  return parameters;
}

}  // namespace troupe
