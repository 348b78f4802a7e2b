#pragma once
// The memory that environments write their observations to, with a check of what they wrote.

#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "actors/environments/vector_environment.hpp"

namespace troupe::detail {

/// Observations [B, D] that B environments write one after the other. At first every float is a NaN
/// with a bit pattern that no arithmetic produces. So the check finds floats that an environment
/// left out and floats that it wrote past its row.
class obs_rows {
 public:
  /// Uses the memory of `reused` if it is large enough.
  obs_rows(std::size_t count, std::size_t width, recycled_vector<float> reused = {});

  std::span<float> row(std::size_t i) { return {floats_.data() + i * width_, width_}; }
  /// Returns whether row i is complete and finite and the float behind it is untouched.
  bool good(std::size_t i) const {
    const float* row = floats_.data() + i * width_;
    bool finite = true;
    for (std::size_t d = 0; d < width_; ++d) finite &= std::isfinite(row[d]);
    return finite && is_unwritten(row[width_]);
  }
  /// Returns what is wrong with row i, for which `good` is false.
  std::pair<env_failure_reason, std::string> fault(std::size_t i) const;
  /// Marks row i, and the float behind it, as not yet written.
  void clear(std::size_t i);
  /// Returns the rows [B, D].
  recycled_vector<float> take() &&;

 private:
  static constexpr std::uint32_t unwritten_bits = 0xffffffffU;
  static constexpr float unwritten = std::bit_cast<float>(unwritten_bits);
  static bool is_unwritten(float value) {
    return std::bit_cast<std::uint32_t>(value) == unwritten_bits;
  }

  std::size_t count_, width_;
  recycled_vector<float> floats_;
};

}  // namespace troupe::detail
