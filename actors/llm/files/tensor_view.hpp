#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "actors/llm/files/llm_file_error.hpp"
#include "actors/llm/files/mapped_file.hpp"
#include "actors/llm/files/tensor_type.hpp"

namespace troupe::llm {

/// A tensor where it lies in its file. Keeps the file mapped. Whoever makes one has checked that
/// `bytes` is as long as type and shape say.
struct tensor_view {
  std::string name;
  tensor_type type = tensor_type::f32;
  std::vector<std::int64_t> shape;  ///< the last dimension is contiguous
  std::string_view bytes;
  std::shared_ptr<const mapped_file> file;

  std::int64_t elements() const;

  /// An error that begins with the file, the tensor and its offset.
  llm_file_error error(const std::string& what) const;
};

/// The elements as floats: exact for F32, F16, BF16 and the quantised types (what llama.cpp would
/// compute with), rounded for F64. Throws llm_file_error for integers, which no model here has.
/// `to` holds elements() floats.
void copy_floats(const tensor_view& from, std::span<float> to);

/// "[2, 3]"
std::string to_string(const std::vector<std::int64_t>& shape);

}  // namespace troupe::llm
