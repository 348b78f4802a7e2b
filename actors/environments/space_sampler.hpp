#pragma once
// Draws random elements of a space, as Gymnasium does.

#include <cstdint>
#include <optional>
#include <vector>

#include "actors/environments/space.hpp"
#include "actors/random/numpy_random.hpp"

namespace troupe {

/// Draws random elements. With the same seed it gives the values of Gymnasium's `space.seed(seed)`
/// followed by `space.sample()`. Box elements that lack a bound are the exception: they have the
/// same distribution (normal or shifted exponential), but not the same bits.
class space_sampler {
 public:
  /// Without a seed the operating system gives one.
  explicit space_sampler(space what, std::optional<std::uint64_t> seed = std::nullopt);

  space_value sample();
  const space& sampled_space() const { return space_; }

 private:
  space space_;
  numpy_random random_;
  std::vector<space_sampler> parts_;  // the parts of a tuple or dict; each has its own generator
};

}  // namespace troupe
