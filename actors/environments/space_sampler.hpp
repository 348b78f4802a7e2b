#pragma once
// Random elements of a space, as Gymnasium draws them.

#include <cstdint>
#include <optional>
#include <vector>

#include "actors/environments/space.hpp"
#include "actors/random/numpy_random.hpp"

namespace troupe {

/// Draws random elements. With the same seed it gives what Gymnasium's `space.seed(seed)` and then
/// `space.sample()` give, except for box elements that lack a bound: those have the same
/// distribution (normal, shifted exponential), not the same bits.
class space_sampler {
 public:
  /// Without a seed the operating system gives one.
  explicit space_sampler(space what, std::optional<std::uint64_t> seed = std::nullopt);

  space_value sample();
  const space& sampled_space() const { return space_; }

 private:
  space space_;
  numpy_random random_;
  std::vector<space_sampler> parts_;  // of a tuple or dict, each with a generator of its own
};

}  // namespace troupe
