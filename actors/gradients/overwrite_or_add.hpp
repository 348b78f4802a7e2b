#pragma once
// The first derivative of a block overwrites it, later ones are added.

#include "actors/kernels/float_block.hpp"

namespace troupe::detail {

/// Computes `count` derivatives by `compute(to)`. They overwrite `to` if they are the first ones,
/// and are added to it otherwise, by way of the work buffer `more`.
template <class F>
void overwrite_or_add(float* to, bool is_first, std::size_t count, float_block& more,
                      const F& compute) {
  if (is_first) return compute(to);
  float* computed = grown(more, count);
  compute(computed);
  for (std::size_t i = 0; i < count; ++i) to[i] += computed[i];
}

}  // namespace troupe::detail
