#pragma once
// The reward penalty for answers of a language model that are too long. The GRPO learner uses it.

#include <algorithm>
#include <cstdint>

namespace troupe {

/// DAPO's soft overlong punishment, which is added to the reward of an answer of `length` tokens.
/// It is 0 up to `length_max` - `cache` tokens and falls linearly from there to -1 at `length_max`,
/// the longest answer that is allowed. Yu et al. 2025, arXiv:2503.14476, equation 13. If `cache` is
/// 0 or less, it is always 0.
inline double overlong_reward(std::int64_t length, std::int64_t length_max, std::int64_t cache) {
  if (cache <= 0) return 0.0;
  const auto over = static_cast<double>(length - (length_max - cache));
  return -std::clamp(over / static_cast<double>(cache), 0.0, 1.0);
}

}  // namespace troupe
