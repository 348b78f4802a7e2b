#pragma once
// A tensor in a file, as gguf.hpp and safetensors.hpp give it.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "actors/llm/files/input_file.hpp"
#include "actors/llm/files/llm_file_error.hpp"
#include "actors/llm/files/tensor_type.hpp"

namespace troupe::llm {

/// A view of a tensor in its file, which it keeps open. The maker must check that `size` matches
/// type and shape, and that the file has these bytes.
struct tensor_view {
  std::string name;
  tensor_type type = tensor_type::f32;
  std::vector<std::int64_t> shape;  ///< row-major: the last dimension is contiguous
  std::uint64_t offset = 0;         ///< that of its first byte in the file
  std::uint64_t size = 0;           ///< in bytes
  std::shared_ptr<const input_file> file;

  std::int64_t elements() const;

  /// An error whose message begins with the file, the tensor and its offset.
  llm_file_error error(const std::string& what) const;
};

/// Reads the elements as floats to `to`, which must hold elements() floats. They are exact for
/// F32, F16, BF16 and the quantised types (the values of llama.cpp), and rounded for F64. Throws
/// llm_file_error for integers, which the supported models don't have.
void copy_floats(const tensor_view& from, std::span<float> to);

/// The same for weights of a model, with which nothing can be computed if one is not finite: throws
/// llm_file_error that names the first such element.
void copy_weights(const tensor_view& from, std::span<float> to);

/// True if the files have the same bytes there.
bool have_equal_bytes(const tensor_view& a, const tensor_view& b);

/// A shape as text, such as "[2, 3]".
std::string to_string(const std::vector<std::int64_t>& shape);

}  // namespace troupe::llm
