#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "actors/environments/vector_environment.hpp"

namespace troupe::detail {

/// Observations [B, D] while B environments write them, one after the other. Before that they hold
/// a NaN that no arithmetic makes, so what was left out, and what was written past a row, both
/// show.
class obs_rows {
 public:
  /// In the memory of `reused`, if that is enough.
  obs_rows(std::size_t count, std::size_t width, recycled_vector<float> reused = {});

  std::span<float> row(std::size_t i) { return {floats_.data() + i * width_, width_}; }
  /// Whether row i is written in full, finite, and the place behind it untouched.
  bool good(std::size_t i) const {
    const float* row = floats_.data() + i * width_;
    bool finite = true;
    for (std::size_t d = 0; d < width_; ++d) finite &= std::isfinite(row[d]);
    return finite && is_unwritten(row[width_]);
  }
  /// What is not good about row i.
  std::pair<env_failure_reason, std::string> fault(std::size_t i) const;
  /// Row i, and whatever was written behind it, is to be written anew.
  void clear(std::size_t i);
  /// The rows [B, D].
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
