#pragma once

#include <ATen/core/Tensor.h>

#include "actors/trainer/adam.hpp"

namespace troupe {

/// Where GRPO begins. Adam without moments divides its first gradients by themselves, so that its
/// first steps are of full size in every weight, by noise in most of them, and throw away what a
/// warm start has just taught. So it goes on with those of the warm start.
struct grpo_start {
  at::Tensor parameters;  ///< [P]
  adam_state moments;     ///< of step 0 and empty: none
};

}  // namespace troupe
