#include "actors/llm/files/dequantise.hpp"

#include <cstring>

#include "actors/llm/files/half.hpp"

namespace troupe::llm {
namespace {

using byte = std::uint8_t;

std::uint16_t u16_at(const byte* p) { return std::uint16_t(p[0] | p[1] << 8); }
std::uint32_t u32_at(const byte* p) { return u16_at(p) | std::uint32_t(u16_at(p + 2)) << 16; }
float f16_at(const byte* p) { return float_of_f16(u16_at(p)); }

// Each function converts one block from its bytes `p` to its 32 or 256 values `y`. d is the scale
// and m the minimum.

void q4_0(const byte* p, float* y) {
  const float d = f16_at(p);
  for (int j = 0; j < 16; ++j) {
    y[j] = d * float((p[2 + j] & 15) - 8);
    y[j + 16] = d * float((p[2 + j] >> 4) - 8);
  }
}

void q4_1(const byte* p, float* y) {
  const float d = f16_at(p), m = f16_at(p + 2);
  for (int j = 0; j < 16; ++j) {
    y[j] = d * float(p[4 + j] & 15) + m;
    y[j + 16] = d * float(p[4 + j] >> 4) + m;
  }
}

// Bit j of `high` is the fifth bit of element j.
int fifth_bit(std::uint32_t high, int j) { return int(high >> j & 1) << 4; }

void q5_0(const byte* p, float* y) {
  const float d = f16_at(p);
  const auto high = u32_at(p + 2);
  for (int j = 0; j < 16; ++j) {
    y[j] = d * float(((p[6 + j] & 15) | fifth_bit(high, j)) - 16);
    y[j + 16] = d * float(((p[6 + j] >> 4) | fifth_bit(high, j + 16)) - 16);
  }
}

void q5_1(const byte* p, float* y) {
  const float d = f16_at(p), m = f16_at(p + 2);
  const auto high = u32_at(p + 4);
  for (int j = 0; j < 16; ++j) {
    y[j] = d * float((p[8 + j] & 15) | fifth_bit(high, j)) + m;
    y[j + 16] = d * float((p[8 + j] >> 4) | fifth_bit(high, j + 16)) + m;
  }
}

void q8_0(const byte* p, float* y) {
  const float d = f16_at(p);
  for (int j = 0; j < 32; ++j) y[j] = d * float(std::int8_t(p[2 + j]));
}

struct scale_and_minimum {
  int scale, minimum;
};

// Pair j of the eight pairs of six bits that are packed into twelve bytes.
scale_and_minimum packed_pair(const byte* b, int j) {
  if (j < 4) return {b[j] & 63, b[j + 4] & 63};
  return {(b[j + 4] & 15) | (b[j - 4] >> 6) << 4, (b[j + 4] >> 4) | (b[j] >> 6) << 4};
}

// Sub-blocks 2k and 2k+1 of 32 elements are the low and the high nibbles of the same 32 bytes; in
// Q5_K bit s of high[l] is the fifth bit of element l of sub-block s.
void q45_k(const byte* p, const byte* high, const byte* low, float* y) {
  const float d = f16_at(p), m = f16_at(p + 2);
  for (int s = 0; s < 8; ++s) {
    const auto pair = packed_pair(p + 4, s);
    const float scale = d * float(pair.scale), minimum = m * float(pair.minimum);
    for (int l = 0; l < 32; ++l) {
      const byte both = low[s / 2 * 32 + l];
      int q = s % 2 ? both >> 4 : both & 15;
      if (high) q |= (high[l] >> s & 1) << 4;
      y[s * 32 + l] = scale * float(q) - minimum;
    }
  }
}

void q4_k(const byte* p, float* y) { q45_k(p, nullptr, p + 16, y); }
void q5_k(const byte* p, float* y) { q45_k(p, p + 16, p + 48, y); }

void q6_k(const byte* p, float* y) {
  const float d = f16_at(p + 208);
  for (int half = 0; half < 2; ++half) {
    const byte* low = p + half * 64;
    const byte* high = p + 128 + half * 32;
    const byte* scales = p + 192 + half * 8;
    for (int l = 0; l < 32; ++l) {
      const int q[4] = {
          (low[l] & 15) | (high[l] & 3) << 4, (low[l + 32] & 15) | (high[l] >> 2 & 3) << 4,
          (low[l] >> 4) | (high[l] >> 4 & 3) << 4, (low[l + 32] >> 4) | (high[l] >> 6) << 4};
      for (int quarter = 0; quarter < 4; ++quarter) {
        const auto scale = std::int8_t(scales[l / 16 + 2 * quarter]);
        y[half * 128 + quarter * 32 + l] = d * float(scale) * float(q[quarter] - 32);
      }
    }
  }
}

template <void (*decode)(const byte*, float*)>
bool decode_blocks(tensor_type type, std::string_view bytes, std::span<float> to) {
  const auto* p = reinterpret_cast<const byte*>(bytes.data());
  const auto elements = elements_of_block(type), size = bytes_of_block(type);
  for (std::size_t at = 0; at < to.size(); at += elements, p += size) decode(p, to.data() + at);
  return true;
}

void one_f16(const byte* p, float* y) { *y = f16_at(p); }
void one_bf16(const byte* p, float* y) { *y = float_of_bf16(u16_at(p)); }
void one_f64(const byte* p, float* y) {
  double value;
  std::memcpy(&value, p, sizeof value);
  *y = static_cast<float>(value);
}

}  // namespace

bool dequantise(tensor_type type, std::string_view bytes, std::span<float> to) {
  switch (type) {
    case tensor_type::f32:
      if (!to.empty()) std::memcpy(to.data(), bytes.data(), to.size_bytes());
      return true;
    case tensor_type::f64:
      return decode_blocks<one_f64>(type, bytes, to);
    case tensor_type::f16:
      return decode_blocks<one_f16>(type, bytes, to);
    case tensor_type::bf16:
      return decode_blocks<one_bf16>(type, bytes, to);
    case tensor_type::q4_0:
      return decode_blocks<q4_0>(type, bytes, to);
    case tensor_type::q4_1:
      return decode_blocks<q4_1>(type, bytes, to);
    case tensor_type::q5_0:
      return decode_blocks<q5_0>(type, bytes, to);
    case tensor_type::q5_1:
      return decode_blocks<q5_1>(type, bytes, to);
    case tensor_type::q8_0:
      return decode_blocks<q8_0>(type, bytes, to);
    case tensor_type::q4_k:
      return decode_blocks<q4_k>(type, bytes, to);
    case tensor_type::q5_k:
      return decode_blocks<q5_k>(type, bytes, to);
    case tensor_type::q6_k:
      return decode_blocks<q6_k>(type, bytes, to);
    default:
      return false;
  }
}

}  // namespace troupe::llm
