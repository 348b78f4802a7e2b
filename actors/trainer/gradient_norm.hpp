#pragma once
// The norm of a gradient, for the optimisers.
#include <span>

namespace troupe {

/// A gradient's norm, and the factor that clips it.
struct clipped_gradient {
  double norm = 0;     ///< The Euclidean norm before clipping.
  double scale = 1;    ///< min(1, max_norm / (norm + 1e-6)), as torch.nn.utils.clip_grad_norm_.
  bool usable = true;  ///< False if the squares of its scaled elements overflow a float.
};

/// Computes the norm and the factor. A `max_norm` of 0 means no clipping.
clipped_gradient clip_gradient(std::span<const float> gradient, double max_norm);

}  // namespace troupe
