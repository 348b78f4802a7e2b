#pragma once
// Numbers the observations of discrete spaces for tabular algorithms.

#include <cstdint>
#include <span>
#include <vector>

#include "actors/environments/space.hpp"

namespace troupe {

/// Numbers the observations of a discrete or multi-discrete space, or of a tuple or dict of them,
/// so that a table can hold one entry for each. Discrete(3) has 3 states. Tuple(Discrete(2),
/// Discrete(3)) and MultiDiscrete([2, 3]) have 6, and the index of the last part varies fastest.
class discrete_states {
 public:
  /// Throws std::invalid_argument, with the space in the message, if the space is of another kind
  /// or has more than 2^31 states.
  explicit discrete_states(const space& observations);

  std::int64_t size() const { return size_; }
  /// Returns the number of values of each part.
  const std::vector<std::int64_t>& widths() const { return widths_; }
  /// Returns the index of a flattened (one-hot) observation. Throws std::invalid_argument if `obs`
  /// is no such observation.
  std::int64_t index(std::span<const float> obs) const;
  /// Returns the index of the parts' values, each counted from the start of its part. Throws
  /// std::invalid_argument if a value is out of range.
  std::int64_t index(std::span<const std::int64_t> parts) const;

 private:
  std::vector<std::int64_t> widths_;
  std::int64_t size_ = 1;
};

}  // namespace troupe
