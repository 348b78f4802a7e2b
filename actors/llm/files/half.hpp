#pragma once
// Conversions between float and the 16-bit types f16 and bf16.

#include <bit>
#include <cstdint>

namespace troupe::llm {

/// The exact value of an IEEE 754 binary16 number.
inline float float_of_f16(std::uint16_t half) {
  const std::uint32_t sign = std::uint32_t(half & 0x8000) << 16;
  const std::uint32_t exponent = (half >> 10) & 0x1f;
  const std::uint32_t fraction = half & 0x3ff;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000 | fraction << 13);
  if (exponent == 0) {  // subnormal: fraction * 2^-24
    const float value = float(fraction) * 0x1p-24f;
    return sign ? -value : value;
  }
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
}

/// The exact value of a bfloat16 number, which is the upper half of a float.
inline float float_of_bf16(std::uint16_t half) {
  return std::bit_cast<float>(std::uint32_t(half) << 16);
}

/// The nearest bfloat16 number, with ties to even. NaN stays NaN.
inline std::uint16_t bf16_of_float(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000) return std::uint16_t(bits >> 16 | 0x40);
  return std::uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

}  // namespace troupe::llm
