#pragma once
// Choices among those that an action mask allows.

#include <algorithm>
#include <cstdint>

#include "actors/random/action_random.hpp"

/// `mask` [n] is above 0 for each choice that is allowed; null means that all are. Where a mask
/// allows none, all are allowed, because something must be chosen.
namespace troupe::detail {

/// Returns whether the mask forbids some of the n choices, but not all.
inline bool forbids(const float* mask, int n) {
  const auto allowed = mask ? std::count_if(mask, mask + n, [](float x) { return x > 0; }) : n;
  return allowed > 0 && allowed < n;
}

/// Returns the first of the allowed choices whose value is the largest.
inline std::int64_t best_allowed(const float* values, const float* mask, int n) {
  if (!forbids(mask, n)) return std::max_element(values, values + n) - values;
  std::int64_t best = -1;
  for (int i = 0; i < n; ++i) {
    if (mask[i] > 0 && (best < 0 || values[i] > values[best])) best = i;
  }
  return best;
}

/// Draws each allowed choice with the same probability, by one draw.
inline std::int64_t random_allowed(const float* mask, int n, action_random& random) {
  if (!forbids(mask, n)) {
    return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(n)));
  }
  auto left = random.below(
      static_cast<std::uint64_t>(std::count_if(mask, mask + n, [](float x) { return x > 0; })));
  for (std::int64_t i = 0;; ++i) {
    if (mask[i] > 0 && left-- == 0) return i;
  }
}

}  // namespace troupe::detail
