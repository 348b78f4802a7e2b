#pragma once

#include <algorithm>
#include <cstdint>

namespace troupe {

/// DAPO's soft punishment of an answer of so many tokens, to be added to its reward: 0 up to
/// `length_max` - `cache` tokens, falling evenly from there to -1 at `length_max`, the limit of
/// answers. Yu et al. 2025, arXiv:2503.14476, equation 13. A `cache` of 0 or less: 0.
inline double overlong_reward(std::int64_t length, std::int64_t length_max, std::int64_t cache) {
  if (cache <= 0) return 0.0;
  const auto over = static_cast<double>(length - (length_max - cache));
  return -std::clamp(over / static_cast<double>(cache), 0.0, 1.0);
}

}  // namespace troupe
