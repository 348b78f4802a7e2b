#pragma once
// The arithmetic of activations on single floats, for dense_kernels.

#include <bit>
#include <cstdint>

#include "actors/kernels/activation.hpp"
#include "actors/kernels/cpu_clones.hpp"

/// The functions have no branches and calls, so loops over them vectorise.
namespace troupe::detail {

// Writes y = k ln 2 + r with |r| <= ln(2)/2 and returns 2^k and e^r - 1. The latter comes from its
// Taylor series and is exact to float. Valid for |y| <= 80; NaN stays NaN.
struct reduced_exponent {
  float small;  // e^r - 1
  float scale;  // 2^k
};
TROUPE_ALWAYS_INLINE reduced_exponent reduce_exponent(float y) {
  constexpr float rounder = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
  const float shifted = y * 1.44269504f + rounder;
  const float k = shifted - rounder;
  const float r = (y - k * 0.693359375f) + k * 2.12194440e-4f;  // ln 2 in two parts
  // The sum 1/2! + r/3! + ... is computed as a tree, which has a shorter latency than Horner's
  // chain.
  const float q = r * r;
  const float tail = (1.0f / 2 + r * (1.0f / 6)) +
                     q * ((1.0f / 24 + r * (1.0f / 120)) + q * (1.0f / 720 + r * (1.0f / 5040)));
  const auto exponent = (std::bit_cast<std::uint32_t>(shifted) << 23) + (127u << 23);
  return {r + q * tail, std::bit_cast<float>(exponent)};
}

TROUPE_ALWAYS_INLINE float exp_minus_one(float y) {
  const auto [small, scale] = reduce_exponent(y);
  return scale * small + (scale - 1.0f);
}

// Returns e^y; y is clipped to -80..80.
TROUPE_ALWAYS_INLINE float exp_of(float y) {
  y = y > 80.0f ? 80.0f : y;
  y = y < -80.0f ? -80.0f : y;
  const auto [small, scale] = reduce_exponent(y);
  return scale * small + scale;
}

// Returns log(1 + x) for 0 <= x <= 1 as 2 artanh(x / (2 + x)). The argument of its series is at
// most 1/3.
TROUPE_ALWAYS_INLINE float log_one_plus(float x) {
  const float s = x / (2.0f + x);
  const float q = s * s;
  return 2.0f * s *
         (1.0f +
          q * (1.0f / 3 +
               q * (1.0f / 5 +
                    q * (1.0f / 7 +
                         q * (1.0f / 9 + q * (1.0f / 11 + q * (1.0f / 13 + q * (1.0f / 15))))))));
}

// Returns tanh x = (e^2x - 1) / (e^2x + 1).
TROUPE_ALWAYS_INLINE float tanh_of(float x) {
  constexpr float limit = 9.02f;  // tanh is 1 in float from here
  x = x > limit ? limit : x;      // this way round, NaN stays NaN
  x = x < -limit ? -limit : x;
  const float t = exp_minus_one(2.0f * x);
  return t / (t + 2.0f);
}

TROUPE_ALWAYS_INLINE float elu_of(float x) {
  constexpr float limit = -20.0f;  // e^x - 1 is -1 in float from here
  float below = x > 0.0f ? 0.0f : x;
  below = below < limit ? limit : below;
  const float negative = exp_minus_one(below);
  return x > 0.0f ? x : negative;
}

TROUPE_ALWAYS_INLINE float silu_of(float x) { return x / (1.0f + exp_of(-x)); }

constexpr float leaky_slope = 0.01f;

template <activation kind>
TROUPE_ALWAYS_INLINE float activated(float x) {
  if constexpr (kind == activation::tanh) return tanh_of(x);
  if constexpr (kind == activation::relu) return x < 0.0f ? 0.0f : x;
  if constexpr (kind == activation::elu) return elu_of(x);
  if constexpr (kind == activation::leaky_relu) return x < 0.0f ? leaky_slope * x : x;
  if constexpr (kind == activation::silu) return silu_of(x);
  return x;
}

// Returns the derivative as a function of the activation's result.
template <activation kind>
TROUPE_ALWAYS_INLINE float slope_at(float y) {
  if constexpr (kind == activation::tanh) return 1.0f - y * y;
  if constexpr (kind == activation::relu) return y > 0.0f ? 1.0f : 0.0f;
  if constexpr (kind == activation::elu) return y > 0.0f ? 1.0f : y + 1.0f;
  if constexpr (kind == activation::leaky_relu) return y > 0.0f ? 1.0f : leaky_slope;
  return 1.0f;
}

/// Returns whether the derivative is a function of the result. For silu it isn't, because silu is
/// not monotone.
constexpr bool has_slope_of_result(activation kind) { return kind != activation::silu; }

}  // namespace troupe::detail
