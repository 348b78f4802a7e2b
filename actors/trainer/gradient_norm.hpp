#pragma once
#include <span>

namespace troupe {

/// A gradient's size, and what it is to be multiplied with so that it is no longer than allowed.
struct clipped_gradient {
  double norm = 0;     ///< Euclidean, before clipping
  double scale = 1;    ///< min(1, max_norm / (norm + 1e-6)), as torch.nn.utils.clip_grad_norm_
  bool usable = true;  ///< false: the squares of its scaled elements are no floats
};

/// `max_norm` 0: never clipped.
clipped_gradient clip_gradient(std::span<const float> gradient, double max_norm);

}  // namespace troupe
