#pragma once
// The element types of tensors in files, and their sizes.

#include <cstdint>
#include <string_view>
#include <vector>

namespace troupe::llm {

/// The storage of a tensor's elements in a file: one by one, or quantised in blocks of 32 or 256.
enum class tensor_type : std::uint8_t {
  f64,
  f32,
  f16,
  bf16,
  i64,
  i32,
  i16,
  i8,
  u8,
  boolean,
  q4_0,
  q4_1,
  q5_0,
  q5_1,
  q8_0,
  q4_k,
  q5_k,
  q6_k,
};

std::string_view name_of(tensor_type type);         ///< a name such as "F32" or "Q4_K"
std::uint64_t elements_of_block(tensor_type type);  ///< 1 if elements are stored one by one
std::uint64_t bytes_of_block(tensor_type type);

/// The number of bytes of a tensor. Throws std::invalid_argument for a negative size, for more than
/// 2^62 bytes, and for rows (the last dimension) that aren't whole blocks.
std::uint64_t bytes_of(tensor_type type, const std::vector<std::int64_t>& shape);

}  // namespace troupe::llm
