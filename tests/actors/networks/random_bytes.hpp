#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

#include "actors/random/action_random.hpp"

namespace troupe {

/// Rows [rows, width] of random bytes 0 .. 255 as floats.
inline at::Tensor random_bytes(std::int64_t rows, std::int64_t width, std::uint64_t seed) {
  action_random random(seed);
  auto obs = at::empty({rows, width}, at::kFloat);
  for (std::int64_t i = 0; i < obs.numel(); ++i) {
    obs.data_ptr<float>()[i] = static_cast<float>(random.below(256));
  }
  return obs;
}

}  // namespace troupe
