#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "actors/environments/space.hpp"

namespace troupe {

/// Numbers the observations of a discrete space, or of a tuple of them, so that a table can hold
/// one entry for each: Discrete(3) has 3 states, Tuple(Discrete(2), Discrete(3)) 6, the last part
/// counting fastest.
class discrete_states {
 public:
  /// Throws std::invalid_argument naming the space if it is another one, or has more than 2^31
  /// states.
  explicit discrete_states(const space& observations);

  std::int64_t size() const { return size_; }
  /// Of a flattened (one-hot) observation. Throws std::invalid_argument if it is none.
  std::int64_t index(std::span<const float> obs) const;
  /// Of the parts' values, counted from each one's start. Throws std::invalid_argument if they are
  /// out of range.
  std::int64_t index(std::span<const std::int64_t> parts) const;

 private:
  std::vector<std::int64_t> widths_;
  std::int64_t size_ = 1;
};

}  // namespace troupe
