#pragma once
// The distribution of some values, for people.

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

namespace troupe {

/// The least value, the quartiles and the largest value: 0, 25, 50, 75 and 100 % of the values are
/// less or equal. `values` must not be empty.
inline std::array<double, 5> quartiles(std::vector<double> values) {
  std::ranges::sort(values);
  std::array<double, 5> found{};
  for (std::size_t i = 0; i < found.size(); ++i)
    found[i] = values[i * (values.size() - 1) / (found.size() - 1)];
  return found;
}

}  // namespace troupe
