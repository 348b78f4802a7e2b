#pragma once
// The initial state of GRPO's learner.

#include <ATen/core/Tensor.h>

#include "actors/trainer/adam.hpp"

namespace troupe {

/// The weights and Adam's moments that GRPO begins with. Without moments Adam divides its first
/// gradients by themselves, so that the first steps have full size in every weight, mostly by
/// noise, and destroy what the warm start has taught. GRPO therefore goes on with the moments of
/// the warm start.
struct grpo_start {
  at::Tensor parameters;  ///< [P]
  adam_state moments;     ///< empty and at step 0 if there are none
};

}  // namespace troupe
